import { bulkWorkMaxMs } from '#lib/jobs/jobs.ts';
import type { Store } from '#lib/postgres/store.ts';
import { addEnding } from '../lifecycle/ending.ts';
import { deleteDeliveries } from '../matching/delete-deliveries.ts';
import type { SubscriptionKey } from '../subscription.ts';

const stepSize = 5_000;

/** Deletes the deliveries of a deleted subscription, in steps. */
export function forgetDeliveries({ store }: { store: Store }, workMaxMs = bulkWorkMaxMs) {
  return async (payload: unknown): Promise<void> => {
    const { workspaceId, id } = payload as SubscriptionKey;
    const endsAtMs = Date.now() + workMaxMs;
    const chosen = `select id from deliveries where workspace_id = $1 and subscription_id = $2 limit ${stepSize}`;
    while ((await deleteDeliveries(store.fork(), chosen, [workspaceId, id])) === stepSize) {
      if (Date.now() < endsAtMs) continue;
      return addEnding(store.fork(), 'forgetDeliveries', { workspaceId, id });
    }
  };
}
