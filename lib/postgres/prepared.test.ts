import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { givenStore, service } from '../test/given.ts';
import { composed, hiddenArray } from './prepared.ts';
import { query } from './query.ts';
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

/** Runs a text some times on one connection; how often PostgreSQL has planned and kept it there. */
function preparedAfter(times: number, text: string, values: readonly unknown[] = []) {
  return store.fork().transactional(async (em) => {
    for (let time = 0; time < times; time += 1) await query(em, text, values);
    const plansSql = `select generic_plans::int as kept, custom_plans::int as made
      from pg_prepared_statements where statement = $1`;
    const [plans] = await query<{ kept: number; made: number }>(em, plansSql, [text]);
    return plans;
  });
}

test('a text is prepared from its third time on, and keeps its plan from the sixth after that', async () => {
  const text = 'select name from things where name = $1 /* frequent */';
  expect(await preparedAfter(2, text, ['a'])).toBeUndefined();
  expect(await preparedAfter(8, text, ['a'])).toEqual({ kept: 3, made: 5 });
});

test('an array of one element that is hidden does not have a text planned each time', async () => {
  const select = (array: string) =>
    `select found.name from unnest(${array}) as asked (name)
     cross join lateral (select name from things where name = asked.name offset 0) found`;
  const shown = await preparedAfter(20, select('$1::text[]'), [['a']]);
  expect(shown).toEqual({ kept: 0, made: 18 });
  const hidden = await preparedAfter(20, select(hiddenArray('$1::text[]')), [['a']]);
  expect(hidden).toEqual({ kept: 13, made: 5 });
});

test.each([
  ['that a caller composes', composed('select name from things where name = $1')],
  ['with a list of parameters', 'select name from things where name in ($1, $2)'],
  ['with all columns of a table', 'select * from things where name = $1'],
  ['that is no statement with a plan', `set local work_mem = '5MB'`],
])('a text %s is not prepared', async (_, text) => {
  const values = [...text.matchAll(/\$\d/g)].map(() => 'a');
  expect(await preparedAfter(6, text, values)).toBeUndefined();
});
