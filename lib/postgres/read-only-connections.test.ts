import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { givenStore } from '../test/given.ts';
import { query } from './query.ts';
import type { Store } from './store.ts';

let store: Store;
beforeEach(async () => {
  store = await givenStore();
});
afterEach(() => store.close());

const put = (name: string, before?: string) =>
  store.fork().transactional(async (em) => {
    if (before) await query(em, before, []);
    const [row] = await query<{ id: number }>(
      em,
      'insert into things (name) values ($1) returning pg_backend_pid() as id',
      [name],
    );
    return row?.id;
  });

test('a connection to a server that takes no writes any more is left for a new one', async () => {
  const first = await put('a');
  await query(store.fork(), 'set session characteristics as transaction read only', []);
  await expect(put('b')).rejects.toThrow('read-only');
  expect(await put('c')).not.toBe(first);
});

test('a connection whose other statements fail stays', async () => {
  const first = await put('a');
  await expect(put('a')).rejects.toThrow('duplicate key');
  expect(await put('b')).toBe(first);
});
