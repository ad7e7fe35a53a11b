import type { MessageInitShape } from '@bufbuild/protobuf';
import type { BroadcastStatsSchema } from '#gen/postrider/messages/v1/messages_pb.ts';

export type BroadcastCounts = Record<
  | 'sent'
  | 'delivered'
  | 'bounced'
  | 'soft_bounced'
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

/** A broadcast's counts as the API shows them; all zero without a row. */
export function toBroadcastStats(
  counts: BroadcastCounts | undefined,
): MessageInitShape<typeof BroadcastStatsSchema> {
  return {
    totalSent: counts?.sent ?? 0,
    totalDelivered: counts?.delivered ?? 0,
    totalBounced: counts?.bounced ?? 0,
    totalSoftBounced: counts?.soft_bounced ?? 0,
    totalComplained: counts?.complained ?? 0,
    totalFailed: counts?.failed ?? 0,
    totalOpened: counts?.opened ?? 0,
    totalClicked: counts?.clicked ?? 0,
    totalUnsubscribed: counts?.unsubscribed ?? 0,
    totalSkipped: counts?.skipped ?? 0,
    totalDeferred: counts?.deferred ?? 0,
    totalUnknown: counts?.unknown ?? 0,
  };
}
