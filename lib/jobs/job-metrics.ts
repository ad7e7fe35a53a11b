import { gauge } from '#lib/telemetry/metrics.ts';
import { schemaOf } from '../postgres/job-schema.ts';
import { query } from '../postgres/query.ts';
import type { Store } from '../postgres/store.ts';

/** Bounds what a scrape reads of a table that has grown. */
const jobsMax = 10_000;
const readEveryMs = 5_000;

type Row = { task: string; is_failed: boolean; count: number; lag_seconds: number };

/** Measures the jobs that are due, as they stand in the database: every process of a service has the same. */
export function measureJobs(store: Store): void {
  const read = atMostEvery(readEveryMs, () => readJobs(store));
  const due = {
    name: 'postrider_jobs_due',
    help: `Jobs of a task that should have begun; those beyond ${jobsMax} are not counted.`,
    labelNames: ['task'],
  } as const;
  gauge(due, async (set) => {
    for (const { task, is_failed, count } of await read()) if (!is_failed) set(count, { task });
  });
  const lag = {
    name: 'postrider_job_lag_seconds',
    help: 'How long the oldest due job of a task has waited. That of deliverEvents is the age of the outbox.',
    labelNames: ['task'],
  } as const;
  gauge(lag, async (set) => {
    for (const row of await read()) if (!row.is_failed) set(row.lag_seconds, { task: row.task });
  });
  const failed = {
    name: 'postrider_jobs_given_up',
    help: 'Jobs of a task that have failed so often that nobody runs them any more.',
    labelNames: ['task'],
  } as const;
  gauge(failed, async (set) => {
    for (const { task, is_failed, count } of await read()) if (is_failed) set(count, { task });
  });
}

function readJobs(store: Store): Promise<Row[]> {
  return query<Row>(
    store.fork(),
    `select task, is_failed, count(*)::int as count,
       extract(epoch from now() - min(run_at))::float8 as lag_seconds
     from (
       select task_identifier as task, attempts >= max_attempts as is_failed, run_at
       from ${schemaOf(store.name)}.jobs
       where locked_at is null and run_at <= now()
       limit ${jobsMax}
     ) due
     group by task, is_failed`,
    [],
  );
}

/** Reads again only after a while, however often it is asked. */
export function atMostEvery<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let last: { atMs: number; result: Promise<T> } | undefined;
  return () => {
    if (last === undefined || performance.now() - last.atMs > ms) {
      last = { atMs: performance.now(), result: read() };
    }
    return last.result;
  };
}
