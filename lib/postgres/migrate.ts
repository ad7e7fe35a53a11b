import { setTimeout as sleep } from 'node:timers/promises';
import { type Migration, Migrator } from '@mikro-orm/migrations';
import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { connectionStringOf } from './database-url.ts';
import { migrateJobs, planJobsOnce } from './job-schema.ts';
import { query } from './query.ts';
import { keepRoleSettings } from './role-settings.ts';

/** By the names under which they are recorded, in order. */
export type Migrations = Record<string, new (...args: never[]) => Migration>;

/**
 * Requests wait behind a migration that waits for its lock: no longer than this, then it lets them
 * pass and tries again.
 */
const lockTimeoutMs = 2_000;
const lockRetryMs = 500;
const lockTriesMax = 120;
/** How soon a process sees that the one before it is done. */
const turnRetryMs = 50;

/**
 * Migrations take as long as they need, whatever the limits of the service's role: those are for
 * requests.
 */
const limits = { statement_timeout: '0', lock_timeout: `${lockTimeoutMs}` };

type Options = { name: string; url: string; migrations: Migrations };

/**
 * Brings the schema of a service up to date, each migration in a transaction of its own, or in none
 * if its `isTransactional` says so. Processes that start together take turns.
 */
export async function migrateSchema(options: Options): Promise<void> {
  const { name, url } = options;
  const lock = await openMigrator(options, undefined);
  try {
    // First, so that what follows connects with them.
    await lock.em.fork().transactional(keepRoleSettings);
    // Committed before, since the library uses another connection.
    await lock.em.fork().transactional(async (em) => {
      await lockMigration(em, name);
      await createSchemaOfUrl(em, url);
    });
    await lock.em.fork().transactional(async (em) => {
      await lockMigration(em, name);
      const [here] = await query<{ name: string }>(em, 'select current_schema() as name', []);
      await migrateUp(options, here?.name);
      // Committed separately, since the library reads from another connection.
      await migrateJobs(lock.em.fork(), url, name);
      await planJobsOnce(em, name);
    });
  } finally {
    await lock.close(true);
  }
}

async function migrateUp(options: Options, schema: string | undefined): Promise<void> {
  const orm = await openMigrator(options, schema);
  try {
    await retryLocks(() => orm.migrator.up());
  } finally {
    await orm.close(true);
  }
}

function openMigrator(
  { name, url, migrations }: Options,
  schema: string | undefined,
): Promise<MikroORM> {
  return MikroORM.init({
    clientUrl: url,
    extensions: [Migrator],
    migrations: {
      migrationsList: Object.entries(migrations).map(([each, made]) => ({
        name: each,
        class: withoutLimits(made),
      })) as never,
      // Without the schema it would look for its table in `public`, and never find it.
      tableName: schema === undefined ? 'migrations' : `${schema}.migrations`,
      snapshot: false,
      allOrNothing: false,
    },
    driverOptions: {
      // The ORM drops the query of the URL.
      connectionString: connectionStringOf(url),
      application_name: `postrider-${name}-migrate`,
    },
    connect: false,
    discovery: { warnWhenNoEntities: false },
    logger: () => {},
  } as never);
}

/**
 * By statements of its own: poolers refuse settings at the start of a connection. Outside of a
 * transaction they hold for the next statement, since the pool gives the connection that was used
 * last.
 */
function withoutLimits(made: Migrations[string]): Migrations[string] {
  type Made = { up(): Promise<void> | void; addSql(sql: string): void; isTransactional(): boolean };
  const base = made as unknown as new (...given: never[]) => Made;
  class Unlimited extends base {
    override async up(): Promise<void> {
      const word = this.isTransactional() ? 'set local' : 'set';
      for (const [name, value] of Object.entries(limits)) this.addSql(`${word} ${name} = ${value}`);
      await super.up();
      if (this.isTransactional()) return;
      for (const name of Object.keys(limits)) this.addSql(`reset ${name}`);
    }
  }
  return Unlimited as unknown as Migrations[string];
}

async function lockMigration(em: EntityManager, service: string): Promise<void> {
  // It is idle while the migrations run.
  for (const name of ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout']) {
    await query(em, `set local ${name} = 0`, []);
  }
  // Asked for again and again: an index that is built concurrently waits for every statement that
  // began before, so a process that waited in a statement and the one that holds the lock would
  // wait for each other. Without parameters, since a statement with some keeps its snapshot until
  // the next one.
  const ask = `select pg_try_advisory_xact_lock(hashtext('migrate ${service}')) as has_lock`;
  for (;;) {
    const [row] = await query<{ has_lock: boolean }>(em, ask, []);
    if (row?.has_lock) return;
    await sleep(turnRetryMs);
  }
}

/**
 * The schema of a URL that names one is made here; those of services' own roles are provisioned
 * with them.
 */
async function createSchemaOfUrl(em: EntityManager, url: string): Promise<void> {
  const schema = new URL(url).searchParams.get('options')?.match(/search_path=(\w+)/)?.[1];
  if (schema === undefined) return;
  const [found] = await query(em, 'select 1 from pg_namespace where nspname = $1', [schema]);
  if (!found) await query(em, `create schema ${schema}`, []);
}

/** Finished migrations stay: a repeat begins with the one that got no lock. */
async function retryLocks(work: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (tries === lockTriesMax || !isLockTimeout(error)) throw error;
      await sleep(lockRetryMs);
    }
  }
}

const lockNotAvailable = '55P03';

/** The library puts the error of PostgreSQL into its own. */
function isLockTimeout(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && at.code === lockNotAvailable) return true;
  }
  return false;
}
