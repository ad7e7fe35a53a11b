import { Logger, run, runMigrations, type Task, type TaskList } from 'graphile-worker';
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

/** Forgets, once a night, what nobody can ask for any more. */
const sweep: Task = async (_, { withPgClient }) => {
  await withPgClient(async (client) => {
    for (const { table, condition } of shortLived) {
      const { rows } = await client.query('select to_regclass($1) is not null as there', [table]);
      if (rows[0]?.there) await client.query(`delete from ${table} where ${condition}`);
    }
  });
};

const shortLived = [
  { table: 'idempotency_keys', condition: "created_at < now() - interval '24 hours'" },
  { table: 'consumed_batches', condition: "consumed_at < now() - interval '30 days'" },
];

export type JobRunner = { stop(): Promise<void> };

/** Runs the service's jobs in this process until stopped. */
export async function runJobs(options: {
  url: string;
  service: string;
  tasks: TaskList;
  log: Log;
}): Promise<JobRunner> {
  const runner = await run({
    connectionString: options.url,
    schema: schemaOf(options.service),
    taskList: { ...options.tasks, sweep },
    crontab: '17 3 * * * sweep',
    concurrency: 5,
    maxPoolSize: 3,
    pollInterval: 1_000,
    noHandleSignals: true,
    logger: forwardErrors(options.log),
  });
  let isStopping = false;
  const end = (error?: unknown) => {
    if (isStopping) return;
    // Without its jobs a service would keep changes from those who must hear of them.
    options.log.error({ err: error }, 'the job runner ended; ending the process for a new start');
    process.kill(process.pid, 'SIGTERM');
  };
  runner.promise.then(() => end(), end);
  return {
    async stop() {
      isStopping = true;
      await runner.stop().catch(() => {});
    },
  };
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
