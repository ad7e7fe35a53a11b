import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';

type WelcomingRow = { id: string; name: string; notification_id: string };

export function findWelcomes({ store }: Context): Methods['findWelcomes'] {
  return async ({ workspaceId, listIds }) => {
    const rows = await query<WelcomingRow>(
      store.fork(),
      `select id, name, welcome ->> 'notification_id' as notification_id from lists
       where workspace_id = $1 and id = any($2::text[]) and welcome is not null and deleted_at is null
       order by id`,
      [workspaceId, listIds],
    );
    return {
      lists: rows.map(({ notification_id: notificationId, id, name }) => ({
        id,
        name,
        notificationId,
      })),
    };
  };
}
