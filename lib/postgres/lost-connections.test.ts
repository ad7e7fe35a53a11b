import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { until } from '../../test/stack/until.ts';
import { givenStore, things } from '../test/given.ts';
import { query } from './query.ts';
import type { Store } from './store.ts';

/** A store has ten connections; a test loses more than that. */
const losses = [...Array(12).keys()];

let store: Store;
const admin = new Client({ connectionString: process.env.TEST_POSTGRES_URL });
beforeAll(async () => {
  store = await givenStore();
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  // Would wait for ever for connections that were not returned to the pool.
  await store.close();
});

/** Ends all connections to the store's database, as a server that stops does. */
async function cut(): Promise<void> {
  const database = new URL(store.url).pathname.slice(1);
  const mine = 'select pid from pg_stat_activity where datname = $1';
  await admin.query(`select pg_terminate_backend(pid) from (${mine}) as mine`, [database]);
  await until('all are gone', async () => (await admin.query(mine, [database])).rowCount === 0);
}

/** The pool may hand out a connection once more before it notices its end. */
const untilAnswers = (): Promise<void> =>
  until('the store answers', () =>
    store.ping().then(
      () => true,
      () => false,
    ),
  );

const put = (name: string): Promise<unknown> =>
  store.fork().transactional((em) => query(em, 'insert into things (name) values ($1)', [name]));

test('a store works on after more transactions were cut than it has connections', async () => {
  for (const number of losses) {
    const broken = store.fork().transactional(async (em) => {
      await query(em, 'insert into things (name) values ($1)', [`lost ${number}`]);
      await cut();
      await query(em, 'select 1', []);
    });
    await expect(broken).rejects.toThrow();
  }
  await put('first');
  expect(await things(store)).toEqual(['first']);
});

test('a store works on after ten transactions were cut at once, each while a statement ran', async () => {
  const sleeping = losses
    .slice(0, 10)
    .map(() => store.fork().transactional((em) => query(em, 'select pg_sleep(60)', [])));
  const fates = Promise.allSettled(sleeping);
  await until('all of them sleep', async () => {
    const { rowCount } = await admin.query(
      `select 1 from pg_stat_activity where query = 'select pg_sleep(60)' and state = 'active'`,
    );
    return rowCount === 10;
  });
  await cut();
  expect((await fates).map(({ status }) => status)).toEqual(Array(10).fill('rejected'));
  await Promise.all(losses.map((number) => put(`at once ${number}`)));
  expect(await things(store)).toHaveLength(1 + losses.length);
});

test('a store works on after statements outside of transactions were cut', async () => {
  for (const _ of losses) {
    await untilAnswers();
    const sleeping = query(store.fork(), 'select pg_sleep(60)', []).catch(() => 'cut');
    await until('it sleeps', async () => {
      const { rowCount } = await admin.query(
        `select 1 from pg_stat_activity where query = 'select pg_sleep(60)' and state = 'active'`,
      );
      return rowCount === 1;
    });
    await cut();
    expect(await sleeping).toBe('cut');
  }
  await untilAnswers();
});
