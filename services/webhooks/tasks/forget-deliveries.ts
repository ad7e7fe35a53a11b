import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { SubscriptionKey } from '../subscription.ts';

const stepSize = 5_000;

/** Deletes the deliveries of a deleted subscription, in steps. */
export function forgetDeliveries({ store }: { store: Store }) {
  return async (payload: unknown): Promise<void> => {
    const { workspaceId, id } = payload as SubscriptionKey;
    for (;;) {
      const [row] = await query<{ count: number }>(
        store.fork(),
        `with gone as (
           delete from deliveries where workspace_id = $1 and id in (
             select id from deliveries where workspace_id = $1 and subscription_id = $2
             limit ${stepSize}
           ) returning 1
         )
         select count(*)::int as count from gone`,
        [workspaceId, id],
      );
      if ((row?.count ?? 0) < stepSize) return;
    }
  };
}
