import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Migration } from '@mikro-orm/migrations';
import pg from 'pg';
import { until } from '../../test/stack/until.ts';
import type { Migrations } from './migrate.ts';
import { query } from './query.ts';
import { openStore, type Store } from './store.ts';

const name = 'moving';
const database = `migrate_${process.pid}`;
const server = () => process.env.TEST_POSTGRES_URL ?? '';
const url = () => Object.assign(new URL(server()), { pathname: `/${database}` }).href;

const migrationOf = (...statements: string[]) =>
  class extends Migration {
    override up(): void {
      for (const each of statements) this.addSql(each);
    }
  };

const first: Migrations = {
  'm0001-initial': migrationOf('create table things (name text)', 'select pg_sleep(0.3)'),
  'm0002-more': migrationOf('alter table things add column size integer'),
};

let admin: pg.Client;
const stores: Store[] = [];
beforeAll(async () => {
  admin = new pg.Client({ connectionString: server() });
  await admin.connect();
  await admin.query(`create database ${database}`);
});
afterAll(async () => {
  for (const store of stores) await store.close();
  await admin.end();
});

async function open(migrations: Migrations, at = url()): Promise<Store> {
  const store = await openStore({ name, url: at, entities: [], migrations });
  stores.push(store);
  return store;
}

async function recorded(store: Store): Promise<string[]> {
  const rows = await query<{ name: string }>(
    store.fork(),
    'select name from migrations order by id',
    [],
  );
  return rows.map((row) => row.name);
}

test('two processes that migrate at the same time, and once more, run each migration once', async () => {
  const both = [await open(first), await open(first)] as const;
  await Promise.all(both.map((store) => store.migrate()));
  await both[0].migrate();
  expect(await recorded(both[0])).toEqual(Object.keys(first));
});

test('a migration may take longer than the limits of the role of the service', async () => {
  const limited = new URL(url());
  const options = '-c statement_timeout=100 -c idle_in_transaction_session_timeout=100';
  limited.searchParams.set('options', options);
  const migrations = { ...first, 'm0003-slow': migrationOf('select pg_sleep(0.5)') };
  const store = await open(migrations, limited.href);
  await store.migrate();
  expect(await recorded(store)).toContain('m0003-slow');
});

test('requests do not wait for a migration that waits for its lock', async () => {
  const migrations = {
    ...first,
    'm0003-slow': migrationOf('select 1'),
    'm0004-column': migrationOf('alter table things add column colour text'),
  };
  const store = await open(migrations);
  const holder = new pg.Client({ connectionString: url() });
  await holder.connect();
  await holder.query('begin');
  await holder.query('select from things');
  const migrated = store.migrate();
  await until('the migration waits', async () => {
    const { rowCount } = await holder.query(
      `select from pg_locks where relation = 'things'::regclass and not granted`,
    );
    return rowCount === 1;
  });
  // Behind the lock that is waited for, until the migration gives way.
  expect(await query(store.fork(), 'select name from things', [])).toEqual([]);
  await holder.query('commit');
  await migrated;
  await holder.end();
  expect(await recorded(store)).toContain('m0004-column');
});

test('a migration outside of a transaction can build an index concurrently', async () => {
  class Index extends migrationOf('create index concurrently things_size on things (size)') {
    override isTransactional(): boolean {
      return false;
    }
  }
  const before = { 'm0003-slow': migrationOf(), 'm0004-column': migrationOf() };
  const store = await open({ ...first, ...before, 'm0005-index': Index });
  await store.migrate();
  expect(await query(store.fork(), `select to_regclass('things_size')::text as name`, [])).toEqual([
    { name: 'things_size' },
  ]);
});

test('a process that waits for another one does not keep it from building an index concurrently', async () => {
  class Index extends migrationOf(
    'select pg_sleep(0.5)',
    'create index concurrently things_name on things (name)',
  ) {
    override isTransactional(): boolean {
      return false;
    }
  }
  const last = (await recorded(await open(first))).map((each) => [each, migrationOf('select 1')]);
  const migrations = { ...Object.fromEntries(last), 'm0009-name': Index };
  const both = [await open(migrations), await open(migrations)] as const;
  // A build that gives up and is tried again finds its own unfinished index, and fails.
  await Promise.all(both.map((store) => store.migrate()));
  expect(await recorded(both[0])).toContain('m0009-name');
});
