import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';

type Found = {
  at: string;
  lists: { id: string; name: string; notificationId: string }[];
};

export function findWelcomes({ store }: Context): Methods['findWelcomes'] {
  return async ({ workspaceId, listIds }) => {
    const [found] = await query<Found>(
      store.fork(),
      // Members who join by a later welcome have a later time, since the statement reads the clock
      // before the lists.
      `select now() as at, coalesce(json_agg(json_build_object('id', id, 'name', name,
         'notificationId', welcome ->> 'notification_id') order by id), '[]') as lists
       from lists
       where workspace_id = $1 and id = any($2::text[]) and welcome is not null and deleted_at is null`,
      [workspaceId, listIds],
    );
    if (!found) return {};
    return { lists: found.lists, at: timestampFromDate(new Date(found.at)) };
  };
}
