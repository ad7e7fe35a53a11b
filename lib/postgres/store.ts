import type { AnyEntity, EntityClass } from '@mikro-orm/core';
import { type Migration, Migrator } from '@mikro-orm/migrations';
import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { measurePool } from '#lib/telemetry/pools.ts';
import { tracePool } from '#lib/telemetry/traced-pool.ts';
import { tieToCalls } from './call-connections.ts';
import { connectionStringOf } from './database-url.ts';
import { planByIndex } from './index-plans.ts';
import { migrateJobs, planJobsOnce } from './job-schema.ts';
import { returnLostConnections } from './lost-connections.ts';
import { prepared, prepareMarked } from './prepared.ts';
import { query } from './query.ts';
import { keepRoleSettings } from './role-settings.ts';

export type { EntityManager } from '@mikro-orm/postgresql';

/** A service's own part of the database. */
export type Store = {
  readonly name: string;
  readonly url: string;
  readonly orm: MikroORM;
  /** A fresh unit of work for one operation. */
  fork(): EntityManager;
  /**
   * Runs a statement that every call repeats as `prepared`, outside of any transaction. Timestamps and 64-bit
   * numbers come back as text.
   */
  read<Row>(text: string, values: readonly unknown[]): Promise<Row[]>;
  /** Brings the schema up to date; processes that start together take turns. */
  migrate(): Promise<void>;
  /** Rejects if the database cannot be reached. */
  ping(): Promise<void>;
  /** The migrations that the database lacks. */
  pendingMigrations(): Promise<string[]>;
  close(): Promise<void>;
};

type StoreOptions = {
  /** The service's name: its job schema is `<name>_jobs`. */
  name: string;
  url: string;
  /** A name for its connections in metrics; that of the service if absent. */
  pool?: string;
  entities: EntityClass<AnyEntity>[];
  /** By the names under which they are recorded, in order. */
  migrations: Record<string, new (...args: never[]) => Migration>;
  /** 10 if absent. */
  connectionsMax?: number | undefined;
  /** For writes that must outlive the call that began them: the end of a call closes none of these connections. */
  outlivesCalls?: boolean;
  /** Its statements find rows by keys alone, and are planned so. */
  onlyByKey?: boolean;
};

const connectTimeoutMs = 5_000;

export async function openStore(options: StoreOptions): Promise<Store> {
  const orm = await MikroORM.init({
    clientUrl: options.url,
    entities: options.entities,
    extensions: [Migrator],
    migrations: {
      migrationsList: Object.entries(options.migrations).map(([name, each]) => ({
        name,
        class: each,
      })) as never,
      tableName: 'migrations',
      snapshot: false,
      // Prevents its table from being created before `up` names the schema.
      includeWildcardSchema: true,
    },
    pool: { min: 0, max: options.connectionsMax ?? 10, idleTimeoutMillis: 30_000 },
    driverOptions: {
      // The ORM drops the query of the URL.
      connectionString: connectionStringOf(options.url),
      application_name: `postrider-${options.name}`,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      onPoolCreated: (pool: Pool) => {
        returnLostConnections(pool);
        if (!options.outlivesCalls) tieToCalls(pool);
        prepareMarked(pool, options.onlyByKey ? planByIndex(pool) : undefined);
        tracePool(options.name, pool);
        measurePool(options.pool ?? options.name, pool);
      },
    },
    connect: false,
    // Only migrations create tables.
    discovery: { warnWhenNoEntities: false },
    forceUtcTimezone: true,
    logger: () => {},
  } as never);
  return {
    name: options.name,
    url: options.url,
    orm,
    fork: () => orm.em.fork(),
    read: createReader(orm),
    migrate: () => migrate(orm, options),
    ping: async () => {
      await query(orm.em.fork(), 'select 1', []);
    },
    pendingMigrations: () => pendingMigrations(orm.em.fork(), Object.keys(options.migrations)),
    close: () => orm.close(true),
  };
}

async function lockMigration(em: EntityManager, service: string): Promise<void> {
  await query(em, 'select pg_advisory_xact_lock(hashtext($1))', [`migrate ${service}`]);
}

/** The schema of a URL that names one is made here; those of services' own roles are provisioned with them. */
async function createSchemaOfUrl(em: EntityManager, url: string): Promise<void> {
  const schema = new URL(url).searchParams.get('options')?.match(/search_path=(\w+)/)?.[1];
  if (schema === undefined) return;
  const [found] = await query(em, 'select 1 from pg_namespace where nspname = $1', [schema]);
  if (!found) await query(em, `create schema ${schema}`, []);
}

async function migrate(orm: MikroORM, { name, url }: StoreOptions): Promise<void> {
  // First, so that what follows connects with them.
  await orm.em.fork().transactional(keepRoleSettings);
  // Committed before, since the library uses another connection.
  await orm.em.fork().transactional(async (em) => {
    await lockMigration(em, name);
    await createSchemaOfUrl(em, url);
  });
  await orm.em.fork().transactional(async (em) => {
    await lockMigration(em, name);
    // Without the schema it would look for its table in `public`, and never find it.
    const [here] = await query<{ name: string }>(em, 'select current_schema() as name', []);
    await orm.migrator.up({ schema: here?.name });
    // Committed separately, since the library reads from another connection.
    await migrateJobs(orm.em.fork(), url, name);
    await planJobsOnce(em, name);
  });
}

async function pendingMigrations(em: EntityManager, names: readonly string[]): Promise<string[]> {
  const [table] = await query<{ there: boolean }>(
    em,
    `select to_regclass('migrations') is not null as there`,
    [],
  );
  if (!table?.there) return [...names];
  const done = await query<{ name: string }>(em, 'select name from migrations', []);
  return names.filter((name) => done.every((each) => each.name !== name));
}

/** Uses the driver directly: for a small row the ORM costs more than the rest of a call. */
function createReader(orm: MikroORM): Store['read'] {
  return async (text, values) => {
    const pool = await orm.em.getConnection().getNativeClient();
    const client = await pool.connect();
    try {
      const { rows } = await client.query(prepared(text), [...values]);
      return rows;
    } finally {
      client.release();
    }
  };
}
