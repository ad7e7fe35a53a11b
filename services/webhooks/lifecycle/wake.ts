import { addJob } from '#lib/jobs/jobs.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { SubscriptionKey } from '../subscription.ts';
import { workflowIdOf } from './run.ts';

/** The endpoint's host is in the summary of the run. */
export type Wake = { key: SubscriptionKey; host: string };

/** Has the subscription's run look at its row, or starts it. Commits with the change; a queued wake replaces an earlier one. */
export async function addWake(em: EntityManager, payload: Wake, runAt?: Date): Promise<void> {
  const key = workflowIdOf(payload.key);
  await addJob(em, 'webhooks', { task: 'wake', payload, key, ...(runAt ? { runAt } : {}) });
}
