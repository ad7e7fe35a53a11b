import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { givenStore } from '../test/given.ts';
import { survivorsOf } from '../test/minor-collection.ts';
import { query } from './query.ts';
import type { Store } from './store.ts';

let store: Store;
beforeAll(async () => {
  store = await givenStore();
});
afterAll(() => store.close());

const statements = 1_000;
const bytesEach = 20_000;

test('nothing of a statement outlives a collection of the young generation', async () => {
  const sql = `select repeat('x', ${bytesEach}) || $1::text as text`;
  const ask = async (count: number) => {
    for (let number = 0; number < count; number += 1) await query(store.fork(), sql, [`${number}`]);
  };
  await ask(50);
  const survivedBytes = await survivorsOf(() => ask(statements));
  expect(survivedBytes).toBeLessThan((statements * bytesEach) / 5);
});

test("a failed statement's stack leads to who asked", async () => {
  const askWrongly = async () => await query(store.fork(), 'select wrong', []);
  await expect(askWrongly()).rejects.toMatchObject({
    code: '42703',
    stack: expect.stringContaining('askWrongly'),
  });
});
