import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { givenStore } from '../test/given.ts';
import { plainArray } from './arrays.ts';
import { query } from './query.ts';
import type { Store } from './store.ts';

let store: Store;
beforeAll(async () => {
  store = await givenStore();
});
afterAll(() => store.close());

test.each([
  ['no element', []],
  ['addresses', ['ada@example.com', "o'brien+x@example.com"]],
  ['one empty text', ['']],
  ['the word null and nothing at all', ['null', null, 'NULL', 'nullable']],
  ['texts that need quotes', ['a,b', 'say "yes"', 'back\\slash', ' spaces ', '{braces}', 'a\nb']],
  [
    'several rows',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
])('an array of texts comes back as it was: %s', async (_, texts) => {
  const [row] = await query<{ texts: unknown }>(store.fork(), 'select $1::text[] as texts', [
    texts,
  ]);
  expect(row).toEqual({ texts });
});

test.each([
  ['uuid', []],
  ['uuid', ['6f1c1c9e-3c55-8b8e-9a53-0d2a6f1f0001', null]],
  ['bool', [true, false, null]],
  ['int', [1, -2]],
  ['text', ['sent', 'deferred', null]],
])('PostgreSQL reads what the driver would write: %s', async (type, values) => {
  const text = `select $1::${type}[] = $2::${type}[] as same`;
  const [row] = await query(store.fork(), text, [plainArray(values), values]);
  expect(row).toEqual({ same: true });
});

test('times are read as they were', async () => {
  const time = '2026-11-23T22:10:05.123Z';
  const text = 'select $1::timestamptz[] = $2::timestamptz[] as same';
  const [row] = await query(store.fork(), text, [plainArray([time, null]), [time, null]]);
  expect(row).toEqual({ same: true });
});
