import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { givenStore, service } from '../test/given.ts';
import { openStore, type Store } from './store.ts';

let store: Store;
let other: Store;
beforeAll(async () => {
  store = await givenStore();
  other = await openStore({ name: service, url: store.url, entities: [], migrations: {} });
});
afterAll(async () => {
  await other.close();
  await store.close();
});

const namesSql = "select name, statement from pg_prepared_statements where statement like '%of us'";

/** The names that a store's connection gives to texts which it reads in this order. */
async function namesOf({ read }: Store, texts: readonly string[]): Promise<Map<string, string>> {
  for (const text of texts) await read(text, []);
  const rows = await read<{ name: string; statement: string }>(namesSql, []);
  return new Map(rows.map(({ name, statement }) => [statement, name]));
}

test('two processes give no name to two texts: behind a pooler they share connections', async () => {
  const texts = ['select 1 as one -- of us', 'select 2 as two -- of us'];
  const [here, there] = [await namesOf(store, texts), await namesOf(other, texts.toReversed())];
  expect(here.size).toBe(2);
  expect([...there].sort()).toEqual([...here].sort());
});
