import { query } from '#lib/postgres/query.ts';
import type { ConsentStatus } from '../consent/membership.ts';
import type { Context, Methods } from '../context.ts';
import { findList } from '../list-queries.ts';

export function getListStats({ store }: Context): Methods['getListStats'] {
  return async ({ workspaceId, listId }) => {
    const em = store.fork();
    await findList(em, { workspaceId, id: listId });
    const rows = await query<{ status: ConsentStatus; count: number }>(
      em,
      `select status, count(*)::int as count from memberships
       where workspace_id = $1 and list_id = $2 and deleted_at is null
       group by status`,
      [workspaceId, listId],
    );
    const counts = new Map(rows.map(({ status, count }) => [status, count]));
    return {
      listId,
      stats: {
        totalActive: counts.get('active'),
        totalPending: counts.get('pending'),
        totalUnsubscribed: counts.get('unsubscribed'),
        totalBounced: counts.get('bounced'),
        totalComplained: counts.get('complained'),
      },
    };
  };
}
