import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { givenStore } from '../test/given.ts';
import { prepared } from './prepared.ts';
import { query } from './query.ts';
import type { Store } from './store.ts';

let store: Store;
beforeAll(async () => {
  store = await givenStore();
});
afterAll(() => store.close());

test('a read that is repeated is prepared once', async () => {
  const text = 'select name from pg_prepared_statements where statement like $1';
  for (let round = 0; round < 3; round += 1) {
    expect(await store.read(text, ['%select name from pg_prepared_statements%'])).toHaveLength(1);
  }
});

test('a marked text is prepared in a transaction as well, others are not', async () => {
  const names = await store.fork().transactional(async (em) => {
    await query(em, prepared('select $1::int as marked'), [1]);
    await query(em, 'select $1::int as plain', [1]);
    return query<{ statement: string }>(
      em,
      `select statement from pg_prepared_statements where statement ~ 'int as (marked|plain)'`,
      [],
    );
  });
  expect(names).toEqual([{ statement: prepared('select $1::int as marked') }]);
});

test('reads that fail return their connections to the pool', async () => {
  for (let round = 0; round < 12; round += 1) {
    await expect(store.read('select 1 / $1::int', [0])).rejects.toThrow('division by zero');
  }
  expect(await store.read('select 1 as one', [])).toEqual([{ one: 1 }]);
});

test('texts that differ for each call are refused before they fill the memory of the database', async () => {
  const reads = async () => {
    for (let number = 0; number < 200; number += 1) await store.read(`select ${number}`, []);
  };
  await expect(reads()).rejects.toThrow('too many texts to prepare');
});
