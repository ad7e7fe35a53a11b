import type { AnyEntity, EntityClass } from '@mikro-orm/core';
import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { measurePool } from '#lib/telemetry/pools.ts';
import { tracePool } from '#lib/telemetry/traced-pool.ts';
import { actAfterCommit } from './after-commit.ts';
import { readTextArrays } from './arrays.ts';
import { tieToCalls } from './call-connections.ts';
import { askByCallback } from './callbacks.ts';
import { connectionStringOf } from './database-url.ts';
import { idleMaxMs } from './idle-connections.ts';
import { planByIndex } from './index-plans.ts';
import { returnLostConnections } from './lost-connections.ts';
import { type Migrations, migrateSchema } from './migrate.ts';
import { plannedEachTime, prepared, prepareFrequent } from './prepared.ts';
import { query } from './query.ts';
import { leaveReadOnly } from './read-only-connections.ts';
import { closeSilent, keepAlive } from './silent-connections.ts';

export type { EntityManager } from '@mikro-orm/postgresql';

/** A service's own part of the database. */
export type Store = {
  readonly name: string;
  readonly url: string;
  readonly orm: MikroORM;
  /** A fresh unit of work for one operation. */
  fork(): EntityManager;
  /**
   * Runs a statement that every call repeats as `prepared`, outside of any transaction. Timestamps
   * and 64-bit numbers come back as text.
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
  migrations: Migrations;
  /** 10 if absent. */
  connectionsMax?: number | undefined;
  /**
   * For writes that must outlive the call that began them: the end of a call closes none of these
   * connections.
   */
  outlivesCalls?: boolean;
  /** Its statements find rows by keys alone, and are planned so. */
  onlyByKey?: boolean;
};

const connectTimeoutMs = 5_000;

readTextArrays();

export async function openStore(options: StoreOptions): Promise<Store> {
  const orm = await MikroORM.init({
    clientUrl: options.url,
    entities: options.entities,
    subscribers: [actAfterCommit],
    pool: { min: 0, max: options.connectionsMax ?? 10, idleTimeoutMillis: idleMaxMs },
    driverOptions: {
      // The ORM drops the query of the URL.
      connectionString: connectionStringOf(options.url),
      application_name: `postrider-${options.name}`,
      connectionTimeoutMillis: connectTimeoutMs,
      ...keepAlive,
      onPoolCreated: (pool: Pool) => {
        returnLostConnections(pool);
        closeSilent(pool);
        leaveReadOnly(pool);
        askByCallback(pool);
        if (!options.outlivesCalls) tieToCalls(pool);
        prepareFrequent(pool, options.onlyByKey ? planByIndex(pool) : undefined);
        tracePool(options.name, pool);
        measurePool(options.pool ?? options.name, pool);
      },
    },
    connect: false,
    // Only migrations create tables.
    discovery: { warnWhenNoEntities: false },
    forceUtcTimezone: true,
    onQuery: (text: string) => plannedEachTime('the ORM writes values into it', text),
    logger: () => {},
  } as never);
  return {
    name: options.name,
    url: options.url,
    orm,
    fork: () => orm.em.fork(),
    read: createReader(orm),
    migrate: () => migrateSchema(options),
    ping: async () => {
      await query(orm.em.fork(), 'select 1', []);
    },
    pendingMigrations: () => pendingMigrations(orm.em.fork(), Object.keys(options.migrations)),
    close: () => orm.close(true),
  };
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
