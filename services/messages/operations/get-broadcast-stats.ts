import { query } from '#lib/postgres/store.ts';
import type { Context, Methods } from '../context.ts';

type Counts = Record<
  | 'sent'
  | 'delivered'
  | 'bounced'
  | 'complained'
  | 'failed'
  | 'opened'
  | 'clicked'
  | 'unsubscribed'
  | 'skipped'
  | 'deferred'
  | 'unknown',
  number
>;

export function getBroadcastStats({ store }: Context): Methods['getBroadcastStats'] {
  return async ({ workspaceId, broadcastId }) => {
    const [counts] = await query<Counts>(
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
    return {
      broadcastId,
      stats: {
        totalSent: counts?.sent ?? 0,
        totalDelivered: counts?.delivered ?? 0,
        totalBounced: counts?.bounced ?? 0,
        totalComplained: counts?.complained ?? 0,
        totalFailed: counts?.failed ?? 0,
        totalOpened: counts?.opened ?? 0,
        totalClicked: counts?.clicked ?? 0,
        totalUnsubscribed: counts?.unsubscribed ?? 0,
        totalSkipped: counts?.skipped ?? 0,
        totalDeferred: counts?.deferred ?? 0,
        totalUnknown: counts?.unknown ?? 0,
      },
    };
  };
}
