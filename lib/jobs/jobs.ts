/*
 * Jobs: work that follows a commit, on graphile-worker in each service's database.
 *
 * States: waiting (`run_at`), locked by a worker, gone when done; a failure waits longer each time,
 * and no job is given up (`keep_trying` of the job schema). A job is added in the transaction of
 * the change, so that it runs after the commit or never.
 *
 * Order: by priority, then time. Jobs of a `queue` run one after the other; those with a `key`
 * replace each other while they wait. Every task may run twice: it must not mind.
 *
 * Runners: one a process; events have another, in which workspaces take turns (`event-runner.ts`).
 * A dead process's jobs are unlocked after two minutes.
 */

import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Logger,
  type Runner,
  run,
  type Task,
  type TaskList,
  type WorkerEvents,
} from 'graphile-worker';
import type { Notification, Pool, PoolClient } from 'pg';
import { currentTraceparent } from '#lib/telemetry/tracing.ts';
import type { Log } from '../log.ts';
import { openJobPool } from '../postgres/job-pool.ts';
import { schemaOf } from '../postgres/job-schema.ts';
import { query } from '../postgres/query.ts';
import type { EntityManager } from '../postgres/store.ts';
import { PeerAway, recheckPeer, recheckTask } from './reachability.ts';
import { sweepTasks } from './sweep.ts';
import { watchedTasks } from './watched-tasks.ts';

/**
 * The library counts to it; `keep_trying` of the job schema holds the count below, so that no job
 * is given up.
 */
export const attemptsMax = 25;
/** A job with this many failed attempts, after some 20 minutes, counts as failing. */
export const failingFrom = 10;

export type Job = {
  task: string;
  payload: object;
  /** Jobs with the same key replace each other while they wait. */
  key?: string;
  /** Jobs of one queue run one after the other. */
  queue?: string;
  runAt?: Date;
  /** Jobs with a lower number go first; 0 if absent. */
  priority?: number;
};

/** A job of which there is one, at once. */
export type KeyedJob = Omit<Job, 'runAt'> & { key: string };

/**
 * Of jobs that one tenant can make very many of, or very long ones: those of all others go first.
 */
export const bulkPriority = 1;
/** How long a run of such a job takes; what is left is a job of its own. */
export const bulkWorkMaxMs = 2_000;
const bulkSpec = { priority: bulkPriority, maxAttempts: attemptsMax };

/** Adds a job in the caller's transaction: it runs after the commit, or never. */
export async function addJob(em: EntityManager, service: string, job: Job): Promise<void> {
  await query(
    em,
    `select ${schemaOf(service)}.add_job(identifier := $1, payload := $2::json, job_key := $3,
       run_at := $4::timestamptz, queue_name := $5, priority := $6, max_attempts := ${attemptsMax})`,
    [
      job.task,
      JSON.stringify({ ...job.payload, traceparent: currentTraceparent() }),
      job.key ?? null,
      job.runAt?.toISOString() ?? null,
      job.queue ?? null,
      job.priority ?? 0,
    ],
  );
}

/**
 * Adds those jobs whose key no job has, in one statement and in their order. A job that waits,
 * fails or runs stays as it is: the caller comes again for what a running one has not seen.
 */
export async function addMissingJobs(
  em: EntityManager,
  service: string,
  jobs: readonly KeyedJob[],
): Promise<void> {
  const schema = schemaOf(service);
  await query(
    em,
    `select ${schema}.add_job(identifier := task, payload := payload::json, job_key := key, queue_name := queue,
       priority := priority, max_attempts := ${attemptsMax}, job_key_mode := 'unsafe_dedupe')
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[])
       as given (task, payload, key, queue, priority)
     where not exists (select from ${schema}._private_jobs known where known.key = given.key)`,
    [
      jobs.map(({ task }) => task),
      jobs.map(({ payload }) => JSON.stringify(payload)),
      jobs.map(({ key }) => key),
      jobs.map(({ queue }) => queue ?? null),
      jobs.map(({ priority }) => priority ?? 0),
    ],
  );
}

// No task runs as long as this: a worker with an older job was killed or is frozen. Every task may
// be repeated.
const lockMaxMinutes = 2;

/** Unlocks the jobs of dead processes, at the start and every minute. */
function release(service: string): Task {
  const schema = schemaOf(service);
  return async (_, { withPgClient }) => {
    await withPgClient((client) =>
      client.query(
        `select ${schema}.force_unlock_workers(array_agg(distinct locked_by)) from ${schema}.jobs
         where locked_at < now() - ${lockMaxMinutes} * interval '1 minute'`,
      ),
    );
  };
}

export type JobRunner = { stop(): Promise<void> };

export type NoticeHandlers = Readonly<Record<string, (text: string) => void>>;

/**
 * Tells all processes of the service that run its jobs, once the transaction commits. One that has
 * no connection at that moment misses it.
 */
export async function sendNotice(
  em: EntityManager,
  service: string,
  { name, text }: { name: string; text: string },
): Promise<void> {
  await query(em, 'select pg_notify($1, $2)', [noticeChannel(service, name), text]);
}

const noticeChannel = (service: string, name: string): string => `${schemaOf(service)}_${name}`;

type RunOptions = {
  url: string;
  service: string;
  tasks: TaskList;
  /**
   * Tasks that wait for servers of tenants: they have a runner of their own, many at a time, so
   * that no other job waits for them.
   */
  slowTasks?: TaskList;
  /**
   * Tasks that run at the start and every minute; a waiting job with the task's name as its key is
   * brought forward.
   */
  minutely?: readonly string[];
  /** Handlers of notices from other processes of the service, by name. */
  notices?: NoticeHandlers;
  /** Of each runner. */
  connectionsMax?: number;
  log: Log;
};

const restartMs = 500;
/** How long a runner may store ends of jobs once its workers have stopped. */
const storeEndsMaxMs = 5_000;
const jobsAtOnce = 5;
const slowJobsAtOnce = 50;
/** A runner's connections are used for its own bookkeeping alone. */
const connectionsDefault = 6;

/** Jobs with a runner of their own. */
type RunnerOptions = {
  tasks: TaskList;
  jobsAtOnce: number;
  minutely?: readonly string[];
  crontab?: string[];
  notices?: NoticeHandlers;
};

/**
 * The workers of a runner look together. Each by itself would look once a second, and one may have
 * fifty. Jobs that were claimed and find no worker within a second are given back.
 */
const claimedMax = 5;
const claimedMs = 1_000;

/**
 * Runs the service's jobs in this process until stopped. The runner ends by itself when any service
 * migrates its job schema in the same database, since they share its notices; then it is restarted.
 */
export function runJobs(options: RunOptions): JobRunner {
  const stopping = new AbortController();
  const ended = runnersOf(options).map((own) => keepRunning(options, own, stopping.signal));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(ended);
    },
  };
}

function runnersOf({
  service,
  tasks,
  slowTasks,
  minutely = [],
  notices,
}: RunOptions): RunnerOptions[] {
  const main: RunnerOptions = {
    tasks: {
      ...tasks,
      ...sweepTasks({ workMaxMs: bulkWorkMaxMs, spec: bulkSpec }),
      release: release(service),
      [recheckTask]: recheckPeer(service),
    },
    jobsAtOnce,
    minutely: ['release', ...minutely],
    crontab: [
      '17 3 * * * sweep',
      '* * * * * release',
      ...minutely.map((task) => `* * * * * ${task} ?jobKey=${task}`),
    ],
    ...(notices ? { notices } : {}),
  };
  return [main, ...(slowTasks ? [{ tasks: slowTasks, jobsAtOnce: slowJobsAtOnce }] : [])];
}

async function keepRunning(
  options: RunOptions,
  own: RunnerOptions,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    const { url, service, connectionsMax = connectionsDefault, log } = options;
    // A runner that fails may keep connections, so that the next one has a pool of its own.
    let pool: Pool | undefined;
    try {
      pool = openJobPool({ url, service, connectionsMax, log });
      const runner = await startRunner(pool, options, own);
      const ended = untilEnded(runner);
      const stop = () => void runner.stop().catch(() => {});
      stopping.addEventListener('abort', stop, { once: true });
      if (stopping.aborted) stop();
      await addMinutely(runner, own).catch((error) => {
        log.warn({ err: error }, 'the job runner could not begin');
        stop();
      });
      await ended;
      // One that is left behind still has its clock.
      stop();
      stopping.removeEventListener('abort', stop);
    } catch (error) {
      log.warn({ err: error }, 'the job runner failed');
    }
    pool?.end().catch(() => {});
    await sleep(restartMs, undefined, { signal: stopping }).catch(() => {});
  }
}

async function addMinutely(runner: Runner, { minutely = [] }: RunnerOptions): Promise<void> {
  for (const task of minutely) await runner.addJob(task, {}, { jobKey: task });
}

/**
 * Waits until the runner has ended. Where ends of several jobs cannot be stored, the library counts
 * them wrongly and waits for ever: a runner whose workers have stopped is left behind after a
 * while.
 */
async function untilEnded({ promise, events }: Runner): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    for (const event of workersStopped) events.once(event, () => resolve());
  });
  const storing = stopped.then(() => sleep(storeEndsMaxMs, undefined, { ref: false }));
  await Promise.race([promise, storing]);
}

function startRunner(
  pool: Pool,
  { service, log }: RunOptions,
  own: RunnerOptions,
): Promise<Runner> {
  return run({
    pgPool: pool,
    schema: schemaOf(service),
    taskList: watchedTasks(own.tasks),
    crontab: (own.crontab ?? []).join('\n'),
    preset: {
      worker: {
        localQueue: { size: claimedMax, ttl: claimedMs },
        // Ends of jobs that come in one turn are stored together. Without a delay the library
        // handles no error of storing one, and a connection that is cut then would end the process.
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
    concurrency: own.jobsAtOnce,
    pollInterval: 1_000,
    noHandleSignals: true,
    events: listening(service, own.notices),
    logger: forwardErrors(log),
  });
}

const ends = ['pool:gracefulShutdown', 'pool:forcefulShutdown', 'pool:listen:release'] as const;

/** Of the connection that hears of jobs and notices. */
const heartbeatMs = 10_000;

const workersStopped = [
  'pool:gracefulShutdown:complete',
  'pool:forcefulShutdown:complete',
  'pool:forcefulShutdown:error',
] as const;

/** Has a runner hear of the jobs of its own schema only, and of notices. */
function listening(service: string, notices: NoticeHandlers = {}): WorkerEvents {
  const events: WorkerEvents = new EventEmitter();
  const schema = schemaOf(service);
  events.on('pool:listen:success', ({ workerPool, client }) => {
    const heard = new Map([
      [schema, (jobs: string) => workerPool.nudge(Number.parseInt(jobs, 10))],
      ...Object.entries(notices).map(
        ([name, handle]) => [noticeChannel(service, name), handle] as const,
      ),
    ]);
    const endHearing = onNotices(client, heard);
    const endHeartbeat = beginHeartbeat(client);
    // Workers that have ended must not be nudged.
    const stop = (): void => {
      endHearing();
      endHeartbeat();
      for (const end of ends) events.off(end, stop);
    };
    for (const end of ends) events.on(end, stop);
    // After the library's own LISTEN. Lost connections are reported there as well.
    setImmediate(() => {
      const listens = [...heard.keys()].map((channel) => `listen ${channel}`).join('; ');
      client.query(`${listens}; unlisten "jobs:insert"`).catch(() => {});
    });
  });
  return events;
}

/**
 * Nothing else is asked of a connection that hears. Its server may be gone without a word, or a
 * standby since a failover, and then says nothing any more.
 */
function beginHeartbeat(client: PoolClient): () => void {
  let isAsked = false;
  const ask = async (): Promise<void> => {
    if (isAsked) return;
    isAsked = true;
    await requirePrimary(client).catch((error) => client.emit('error', error));
    isAsked = false;
  };
  const timer = setInterval(() => void ask(), heartbeatMs);
  return () => clearInterval(timer);
}

async function requirePrimary(client: PoolClient): Promise<void> {
  const { rows } = await client.query('show in_hot_standby');
  if (rows[0]?.in_hot_standby === 'on') throw new Error('PostgreSQL has become a standby');
}

function onNotices(
  client: PoolClient,
  heard: ReadonlyMap<string, (text: string) => void>,
): () => void {
  const hear = ({ channel, payload = '' }: Notification): void => heard.get(channel)?.(payload);
  client.on('notification', hear);
  return () => client.off('notification', hear);
}

function forwardErrors(log: Log): Logger {
  return new Logger(() => (level, message, meta) => {
    // The call that found it was logged; thousands of jobs may wait for the same service.
    if (meta?.error instanceof PeerAway) return;
    if (level === 'error') log.warn({ job: message.slice(0, 300) }, 'job runner');
  });
}
