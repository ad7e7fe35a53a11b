import { Logger, run, runMigrations, type TaskList } from 'graphile-worker';
import type { Log } from './log.ts';
import { type EntityManager, query } from './store.ts';

/** What must follow a change commits with it, as a job in the service's own schema. */
const schemaOf = (service: string) => `${service}_jobs`;

const eventsPerBatchMax = 500;
const attemptsMax = 25;

/** Which events each service's consumers are told; a consumer that is not named costs nothing. */
const consumers: Record<string, { consumer: string; types: readonly string[] }[]> = {
  messages: [{ consumer: 'contacts', types: ['email.bounced', 'email.complained'] }],
};

export async function migrateJobs(url: string, service: string): Promise<void> {
  await runMigrations({ connectionString: url, schema: schemaOf(service), logger: silent });
}

export type Job = {
  task: string;
  payload: object;
  /** Jobs with the same key replace each other while they wait. */
  key?: string;
  runAt?: Date;
};

/** Adds a job in the caller's transaction: it runs after the commit, or never. */
export async function addJob(em: EntityManager, service: string, job: Job): Promise<void> {
  await query(
    em,
    `select ${schemaOf(service)}.add_job(identifier := $1, payload := $2::json, job_key := $3,
       run_at := $4::timestamptz, max_attempts := ${attemptsMax})`,
    [job.task, JSON.stringify(job.payload), job.key ?? null, job.runAt?.toISOString() ?? null],
  );
}

/** A fact with a time, told to the services that asked for its type. */
export type OutgoingEvent = { type: string; occurredAt: Date; data: Record<string, unknown> };

export type EventBatch = {
  consumer: string;
  workspaceId: string;
  batchId: string;
  events: { type: string; occurredAt: string; data: Record<string, unknown> }[];
};

/** Tells every consumer in batches, one job each, in the caller's transaction. */
export async function addEvents(
  em: EntityManager,
  service: string,
  workspaceId: string,
  events: readonly OutgoingEvent[],
): Promise<void> {
  for (const { consumer, types } of consumers[service] ?? []) {
    const wanted = events.filter((event) => types.includes(event.type));
    for (let first = 0; first < wanted.length; first += eventsPerBatchMax) {
      const batch: EventBatch = {
        consumer,
        workspaceId,
        batchId: crypto.randomUUID(),
        events: wanted
          .slice(first, first + eventsPerBatchMax)
          .map((event) => ({ ...event, occurredAt: event.occurredAt.toISOString() })),
      };
      await addJob(em, service, { task: 'deliverEvents', payload: batch });
    }
  }
}

export type JobRunner = { stop(): Promise<void> };

/** Runs the service's jobs in this process until stopped. */
export async function runJobs(options: {
  url: string;
  service: string;
  tasks: TaskList;
  log: Log;
}): Promise<JobRunner> {
  // A runner without tasks ends at its first look, and can't be stopped then.
  if (Object.keys(options.tasks).length === 0) return { stop: async () => {} };
  const runner = await run({
    connectionString: options.url,
    schema: schemaOf(options.service),
    taskList: options.tasks,
    concurrency: 5,
    maxPoolSize: 3,
    pollInterval: 1_000,
    noHandleSignals: true,
    logger: forwardErrors(options.log),
  });
  // A database that goes away ends the runner; the supervisor starts the process anew.
  runner.promise.catch((error: unknown) => options.log.error({ err: error }, 'job runner ended'));
  return { stop: () => runner.stop() };
}

const silent = createLogger(() => {});

function forwardErrors(log: Log): Logger {
  return createLogger((level, message) => {
    if (level === 'error') log.warn({ job: message.slice(0, 300) }, 'job runner');
  });
}

function createLogger(write: (level: string, message: string) => void): Logger {
  return new Logger(() => (level, message) => write(level, message));
}
