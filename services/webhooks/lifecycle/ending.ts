import { addJob, bulkPriority } from '#lib/jobs/jobs.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { SubscriptionKey } from '../subscription.ts';

/**
 * Ends the deliveries of a subscription: `forgetDeliveries` deletes those of one that is deleted,
 * `failDeliveries` gives up those of one that the system has disabled. There may be millions, so a
 * run takes some seconds, and what is left comes behind the jobs of others. Commits with the
 * change.
 */
export async function addEnding(
  em: EntityManager,
  task: 'forgetDeliveries' | 'failDeliveries',
  { workspaceId, id }: SubscriptionKey,
): Promise<void> {
  await addJob(em, 'webhooks', { task, payload: { workspaceId, id }, priority: bulkPriority });
}
