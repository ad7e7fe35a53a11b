import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';
import { type BroadcastCounts, toBroadcastStats } from '../views/broadcast-stats.ts';

export function getBroadcastStats({ store }: Context): Methods['getBroadcastStats'] {
  return async ({ workspaceId, broadcastId }) => {
    const [counts] = await query<BroadcastCounts>(
      store.fork(),
      `select count(sent_at)::int as sent, count(delivered_at)::int as delivered, count(bounced_at)::int as bounced,
         count(complained_at)::int as complained, count(failed_at)::int as failed, count(opened_at)::int as opened,
         count(clicked_at)::int as clicked, count(unsubscribed_at)::int as unsubscribed,
         count(*) filter (where status = 'skipped')::int as skipped,
         count(*) filter (where status = 'deferred')::int as deferred,
         count(*) filter (where unknown > 0)::int as unknown
       from messages where workspace_id = $1 and broadcast_id = $2 and not by_hand`,
      [workspaceId, broadcastId],
    );
    return { broadcastId, stats: toBroadcastStats(counts) };
  };
}
