import type { EntityManager } from '@mikro-orm/postgresql';
import { Logger, runMigrations } from 'graphile-worker';
import { connectionStringOf } from './database-url.ts';
import { query } from './query.ts';

/**
 * The schema of a service's jobs. A job is added in the transaction of the change that it follows.
 */
export const schemaOf = (service: string) => `${service}_jobs`;

/**
 * Creates the job schema, or brings it up to date. The library's `create schema if not exists`
 * needs the right to create schemas even if this one exists, so it is left out if the table of
 * migrations exists.
 */
export async function migrateJobs(em: EntityManager, url: string, service: string): Promise<void> {
  await query(em, migrationsTable(schemaOf(service)), []);
  const connectionString = connectionStringOf(url);
  await runMigrations({ connectionString, schema: schemaOf(service), logger: silent });
  await query(em, ownNotices(schemaOf(service)), []);
  await query(em, endlessTries(schemaOf(service)), []);
}

/** Most calls add one. */
export const quietTask = 'deliverEvents';
/** Every change that is audited adds one. */
export const auditTask = 'forwardAuditEntries';

/**
 * The library notifies the runners of all services in the database of every job, and each of them
 * then looks for jobs of its own. So runners listen to a channel named like their schema; the
 * payload is the number of jobs and a word that keeps PostgreSQL from merging equal notices. A
 * quiet job has no notice.
 */
const ownNotices = (schema: string) => `
  create or replace function ${schema}.notify_runner() returns trigger language plpgsql as $$
  begin
    perform pg_notify('${schema}', '1 ' || random());
    return null;
  end
  $$;
  create or replace trigger notify_runner after insert on ${schema}._private_jobs
    for each row when (new.flags is null) execute function ${schema}.notify_runner();
  insert into ${schema}._private_tasks (identifier) values ('${quietTask}'), ('${auditTask}')
  on conflict do nothing`;

/**
 * The library backs off to six hours, and gives a job up after `max_attempts`. Here a job that
 * fails waits for five minutes at most, and is tried until it succeeds: the count of attempts stays
 * below the maximum. One that is at the maximum while it runs was replaced by a newer job with its
 * key, and is not tried again.
 */
const endlessTries = (schema: string) => `
  create or replace function ${schema}.keep_trying() returns trigger language plpgsql as $$
  begin
    if new.run_at > old.run_at then
      new.run_at := least(new.run_at,
        greatest(now(), old.run_at) + (4 + random()) * interval '1 minute');
    end if;
    if new.attempts < new.max_attempts then
      new.attempts := least(new.attempts, new.max_attempts - 2);
    end if;
    return new;
  end
  $$;
  create or replace trigger keep_trying before update on ${schema}._private_jobs
    for each row when (old.locked_at is not null and new.locked_at is null)
    execute function ${schema}.keep_trying()`;

/**
 * SQL that adds jobs of `deliverEvents` without a notice: a notice wakes every connection of the
 * database that listens to anything, and commits that have one wait for each other. Code that adds
 * one nudges the runners of its own process after the commit.
 */
export const insertQuietJobs = (service: string) =>
  `insert into ${schemaOf(service)}._private_jobs (flags, task_id, max_attempts, attempts, locked_by, locked_at, payload)`;

type QuietJob = {
  attemptsMax: number;
  /** An SQL text. */
  workspace: string;
  /** An SQL condition: whether it may be delivered with others. */
  isSmall: string;
  /** An SQL text: the worker that a small one is locked for; null if it is to be claimed. */
  workerId: string;
};

/** The values of `insertQuietJobs` before the payload; claims read the flags and not that. */
export const quietJob = (
  service: string,
  { attemptsMax, workspace, isSmall, workerId }: QuietJob,
) =>
  `jsonb_build_object('quiet', true, 'workspace', ${workspace}::text, 'small', ${isSmall}), (select id from ${schemaOf(service)}._private_tasks where identifier = '${quietTask}'), ${attemptsMax},
   case when ${isSmall} and ${workerId}::text is not null then 1 else 0 end,
   case when ${isSmall} then ${workerId}::text end, case when ${isSmall} and ${workerId}::text is not null then now() end`;

/**
 * SQL that adds a job with the entries of the audit log in `payload`, an SQL value, without a
 * notice: a runner finds it within a second, with those of other changes.
 */
export const insertAuditJob = (
  service: string,
  { payload, attemptsMax }: { payload: string; attemptsMax: number },
) => `
  insert into ${schemaOf(service)}._private_jobs (flags, task_id, max_attempts, payload)
  values ('{"quiet": true}', (select id from ${schemaOf(service)}._private_tasks where identifier = '${auditTask}'), ${attemptsMax}, ${payload})`;

/** As graphile-worker 0.18 creates it. */
const migrationsTable = (schema: string) => `
  do $$
  begin
    if to_regnamespace('${schema}') is not null then
      create table if not exists ${schema}.migrations (
        id int primary key,
        ts timestamptz default now() not null,
        breaking boolean not null default false
      );
    end if;
  end
  $$`;

/**
 * Makes a connection plan the four statements that add a job only once. By default PostgreSQL plans
 * them again for each job, since it expects ten jobs instead of one; that is most of the cost of a
 * job.
 */
export async function planJobsOnce(em: EntityManager, service: string): Promise<void> {
  const name = `${schemaOf(service)}.add_jobs`;
  await query(em, `alter function ${name} set plan_cache_mode = force_generic_plan`, []);
}

const silent = new Logger(() => () => {});
