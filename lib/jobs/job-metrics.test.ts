import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { query } from '../postgres/query.ts';
import type { Store } from '../postgres/store.ts';
import { givenStore, service } from '../test/given.ts';
import { readMetric } from '../test/read-metric.ts';
import { measureJobs } from './job-metrics.ts';
import { addJob } from './jobs.ts';

let store: Store;
beforeAll(async () => {
  store = await givenStore();
});
afterAll(() => store.close());

async function add(task: string, runAt: Date): Promise<void> {
  await store.fork().transactional((em) => addJob(em, service, { task, payload: {}, runAt }));
}

test('a task has the jobs that are due, the wait of the oldest, those that have failed ten times, and the age of events that back off', async () => {
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);
  await add('send', ago(100));
  await add('send', ago(10));
  await add('send', ago(-100));
  await add('broken', ago(5));
  await query(
    store.fork(),
    `update ${service}_jobs._private_jobs set attempts = 10, run_at = now() + interval '4 minutes'
     where task_id = (select id from ${service}_jobs._private_tasks where identifier = 'broken')`,
    [],
  );
  await add('deliverEvents', ago(0));
  await query(
    store.fork(),
    `update ${service}_jobs._private_jobs set attempts = 3, run_at = now() + interval '4 minutes',
       created_at = now() - interval '10 minutes'
     where task_id = (select id from ${service}_jobs._private_tasks where identifier = 'deliverEvents')`,
    [],
  );
  measureJobs(store);
  // Events that back off are late all the same.
  expect(await readMetric('postrider_job_lag_seconds', '{task="deliverEvents"}')).toBeGreaterThan(
    599,
  );
  expect(await readMetric('postrider_jobs_due', '{task="deliverEvents"}')).toBeUndefined();
  expect(await readMetric('postrider_jobs_due', '{task="send"}')).toBe(2);
  const lag = (await readMetric('postrider_job_lag_seconds', '{task="send"}')) ?? 0;
  expect(lag).toBeGreaterThanOrEqual(100);
  expect(lag).toBeLessThan(160);
  expect(await readMetric('postrider_jobs_failing', '{task="broken"}')).toBe(1);
  expect(await readMetric('postrider_jobs_due', '{task="broken"}')).toBeUndefined();
});
