import { addJob, attemptsMax } from '#lib/jobs/jobs.ts';
import { schemaOf } from '#lib/postgres/job-schema.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { SubscriptionKey } from '../subscription.ts';
import { workflowIdOf } from './run.ts';

/** The endpoint's host is in the summary of the run. */
export type SubscriptionWake = { key: SubscriptionKey; host: string };

/**
 * Has the subscription's run look at its row, or starts it. Commits with the change; a queued wake
 * replaces an earlier one.
 */
export async function addWake(
  em: EntityManager,
  payload: SubscriptionWake,
  runAt?: Date,
): Promise<void> {
  const key = workflowIdOf(payload.key);
  await addJob(em, 'webhooks', { task: 'wake', payload, key, ...(runAt ? { runAt } : {}) });
}

/** As `addWake`, for several in one statement. */
export async function addWakes(
  em: EntityManager,
  wakes: readonly SubscriptionWake[],
): Promise<void> {
  if (wakes.length === 0) return;
  await query(
    em,
    `select ${schemaOf('webhooks')}.add_job('wake', payload, job_key := key, max_attempts := ${attemptsMax})
     from unnest($1::json[], $2::text[]) as wake (payload, key)`,
    [wakes.map((wake) => JSON.stringify(wake)), wakes.map(({ key }) => workflowIdOf(key))],
  );
}
