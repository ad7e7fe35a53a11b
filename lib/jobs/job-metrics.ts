import { gauge } from '#lib/telemetry/metrics.ts';
import { quietTask, schemaOf } from '../postgres/job-schema.ts';
import { query } from '../postgres/query.ts';
import type { Store } from '../postgres/store.ts';
import { failingFrom } from './jobs.ts';

/** Bounds what a scrape reads of a table that has grown. */
const jobsMax = 10_000;
const readEveryMs = 5_000;

/** A scan of the table. */
const failingReadEveryMs = 30_000;

type TaskRow = { task: string; count: number; lag_seconds: number };

/**
 * Measures the jobs that are due, as they stand in the database: every process of a service has the
 * same.
 */
export function measureJobs(store: Store): void {
  const read = atMostEvery(readEveryMs, () => readJobs(store));
  const due = {
    name: 'postrider_jobs_due',
    help: `Jobs of a task that should have begun; those beyond ${jobsMax} are not counted.`,
    labelNames: ['task'],
  } as const;
  gauge(due, async (set) => {
    for (const { task, count } of await read()) set(count, { task });
  });
  const readUndelivered = atMostEvery(failingReadEveryMs, () => readUndeliveredAge(store));
  const lag = {
    name: 'postrider_job_lag_seconds',
    help: 'How long the oldest due job of a task has waited. That of deliverEvents is the age of the oldest event in the outbox, also of one that waits for its next try.',
    labelNames: ['task'],
  } as const;
  gauge(lag, async (set) => {
    const [due, undelivered] = await Promise.all([read(), readUndelivered()]);
    for (const { task, lag_seconds } of due) set(lag_seconds, { task });
    const outbox = due.find(({ task }) => task === quietTask);
    const age = Math.max(outbox?.lag_seconds ?? 0, undelivered);
    if (age > 0) set(age, { task: quietTask });
  });
  const readFailing = atMostEvery(failingReadEveryMs, () => readFailingJobs(store));
  const failing = {
    name: 'postrider_jobs_failing',
    help: `Jobs of a task that have failed ${failingFrom} times or more; each is tried again every five minutes.`,
    labelNames: ['task'],
  } as const;
  gauge(failing, async (set) => {
    for (const { task, count } of await readFailing()) set(count, { task });
  });
}

function readJobs(store: Store): Promise<TaskRow[]> {
  return query<TaskRow>(
    store.fork(),
    `select task, count(*)::int as count, extract(epoch from now() - min(run_at))::float8 as lag_seconds
     from (
       select task_identifier as task, run_at from ${schemaOf(store.name)}.jobs
       where locked_at is null and run_at <= now()
       limit ${jobsMax}
     ) due
     group by task`,
    [],
  );
}

/** The age of the oldest events that were tried and wait for their next try, in seconds. */
async function readUndeliveredAge(store: Store): Promise<number> {
  const [row] = await query<{ age: number }>(
    store.fork(),
    `select coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as age from (
       select created_at from ${schemaOf(store.name)}.jobs
       where locked_at is null and attempts > 0 and task_identifier = '${quietTask}'
       limit ${jobsMax}
     ) undelivered`,
    [],
  );
  return row?.age ?? 0;
}

function readFailingJobs(store: Store): Promise<Pick<TaskRow, 'task' | 'count'>[]> {
  return query(
    store.fork(),
    `select task, count(*)::int as count from (
       select task_identifier as task from ${schemaOf(store.name)}.jobs
       where locked_at is null and attempts >= ${failingFrom}
       limit ${jobsMax}
     ) failing
     group by task`,
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
