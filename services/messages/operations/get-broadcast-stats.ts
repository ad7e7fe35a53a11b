import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';
import { countMissing } from '../record/recount.ts';
import { type BroadcastCounts, toBroadcastStats } from '../views/broadcast-stats.ts';

export function getBroadcastStats({ store }: Context): Methods['getBroadcastStats'] {
  return async ({ workspaceId, broadcastId }) => {
    await countMissing(store, workspaceId, broadcastId);
    const [counts] = await query<BroadcastCounts>(
      store.fork(),
      `select sum(sent)::int as sent, sum(delivered)::int as delivered, sum(bounced)::int as bounced, sum(soft_bounced)::int as soft_bounced,
         sum(complained)::int as complained, sum(failed)::int as failed, sum(opened)::int as opened,
         sum(clicked)::int as clicked, sum(unsubscribed)::int as unsubscribed, sum(skipped)::int as skipped,
         sum(deferred)::int as deferred, sum(unknown)::int as unknown
       from variation_counts where workspace_id = $1 and broadcast_id = $2`,
      [workspaceId, broadcastId],
    );
    return { broadcastId, stats: toBroadcastStats(counts) };
  };
}
