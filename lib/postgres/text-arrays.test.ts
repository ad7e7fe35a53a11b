import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { givenStore } from '../test/given.ts';
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
