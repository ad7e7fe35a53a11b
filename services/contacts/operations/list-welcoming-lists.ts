import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';

export function listWelcomingLists({ store }: Context): Methods['listWelcomingLists'] {
  return async ({ workspaceId, notificationId }) => {
    const rows = await query<{ name: string }>(
      store.fork(),
      `select name from lists
       where workspace_id = $1 and welcome ->> 'notification_id' = $2 and deleted_at is null
       order by id limit 1000`,
      [workspaceId, notificationId],
    );
    return { names: rows.map(({ name }) => name) };
  };
}
