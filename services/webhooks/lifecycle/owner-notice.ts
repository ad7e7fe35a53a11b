import { addJob } from '#lib/jobs/jobs.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { SubscriptionKey } from '../subscription.ts';

/** A subscription that the system has disabled, as the mail to its owners describes it. */
export type OwnerNotice = {
  key: SubscriptionKey;
  name: string;
  host: string;
  reason: string;
  /** RFC 3339. */
  disabledAt: string;
};

/** Has the owners of the workspace notified by mail; commits with the change. */
export async function addOwnerNotice(em: EntityManager, notice: OwnerNotice): Promise<void> {
  await addJob(em, 'webhooks', { task: 'notifyOwners', payload: notice });
}
