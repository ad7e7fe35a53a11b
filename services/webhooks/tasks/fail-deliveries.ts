import { bulkWorkMaxMs } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { pendingSql } from '../delivery.ts';
import { addEnding } from '../lifecycle/ending.ts';
import type { SubscriptionKey } from '../subscription.ts';

const stepSize = 5_000;

/**
 * Gives up the pending deliveries of a subscription that the system has disabled, in steps;
 * `redeliver` brings them back. Ends early if it is enabled meanwhile.
 */
export function failDeliveries({ store }: { store: Store }, workMaxMs = bulkWorkMaxMs) {
  return async (payload: unknown): Promise<void> => {
    const { workspaceId, id } = payload as SubscriptionKey;
    const endsAtMs = Date.now() + workMaxMs;
    for (;;) {
      const [row] = await query<{ count: number }>(
        store.fork(),
        `with failed as (
           update deliveries d set status = 'failed', next_attempt_at = null, last_error = s.disabled_reason
           from subscriptions s
           where s.workspace_id = $1 and s.id = $2 and not s.enabled and s.disabled_reason is not null
             and d.workspace_id = $1 and d.id in (
               select id from ${pendingSql('workspace_id = $1 and subscription_id = $2')} pending
               limit ${stepSize}
             )
           returning 1
         )
         select count(*)::int as count from failed`,
        [workspaceId, id],
      );
      if ((row?.count ?? 0) < stepSize) return;
      if (Date.now() >= endsAtMs) {
        return addEnding(store.fork(), 'failDeliveries', { workspaceId, id });
      }
    }
  };
}
