import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '../../test/stack/until.ts';
import { createLog } from '../log.ts';
import { query } from '../postgres/query.ts';
import { openStore, type Store } from '../postgres/store.ts';
import { givenStore, service } from '../test/given.ts';
import { addJob, type JobRunner, runJobs } from './jobs.ts';

const old = 400_000;

let store: Store;
/** Its statements may take a short time only. */
let hurried: Store;
let runner: JobRunner | undefined;
beforeAll(async () => {
  store = await givenStore();
  const url = new URL(store.url);
  url.searchParams.set('options', '-c statement_timeout=150ms');
  hurried = await openStore({ name: service, url: url.href, entities: [], migrations: {} });
});
afterEach(async () => {
  await runner?.stop();
  runner = undefined;
});
afterAll(async () => {
  await hurried.close();
  await store.close();
});

const sweep = () => {
  runner = runJobs({ url: hurried.url, service, tasks: {}, log: createLog('test', 'silent') });
  return addJob(store.fork(), service, { task: 'sweep', payload: {} });
};

const count = async (table: string): Promise<number> => {
  const [row] = await query<{ count: number }>(
    store.fork(),
    `select count(*)::int as count from ${table}`,
    [],
  );
  return row?.count ?? 0;
};

test('more rows expire in a night than one statement could delete in its time, and those of other tables go as well', async () => {
  const give = (from: number, to: number, age: string) =>
    query(
      store.fork(),
      `insert into consumed_batches select gen_random_uuid(), now() - interval '${age}'
       from generate_series(${from}, ${to})`,
      [],
    );
  await give(1, 50, '29 days');
  await give(1, old, '31 days');
  await give(1, 50, '29 days');
  await query(
    store.fork(),
    `insert into idempotency_keys (workspace_id, rpc, key, request_hash, created_at)
     select 'w', 'r', age, '', now() - age::interval from unnest('{23 hours,25 hours}'::text[]) age`,
    [],
  );
  await sweep();
  await until('all that has expired is gone', async () => {
    const left = await Promise.all(['consumed_batches', 'idempotency_keys'].map(count));
    return left.join() === '100,1';
  });
  expect(await query(store.fork(), 'select key from idempotency_keys', [])).toEqual([
    { key: '23 hours' },
  ]);
});
