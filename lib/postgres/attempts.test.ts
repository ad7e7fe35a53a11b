import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { givenStore } from '../test/given.ts';
import { countAttempt, forgetAttempts } from './attempts.ts';
import { query } from './query.ts';
import type { Store } from './store.ts';

let store: Store;
beforeAll(async () => {
  store = await givenStore();
});
afterAll(() => store.close());

const start = new Date('2030-01-01T12:00:00Z');
const after = (ms: number) => new Date(start.getTime() + ms);
const open = { isExhausted: false };
const limit = (key: string, attemptsMax = 3) => ({ key, attemptsMax, windowMs: 60_000 });

test('attempts up to the limit are allowed, and the next after the oldest has expired', async () => {
  for (const ms of [0, 10_000, 20_000]) {
    expect(await countAttempt(store, [limit('a')], after(ms))).toEqual({
      limit: limit('a'),
      isExhausted: false,
      remaining: 2 - ms / 10_000,
      resetMs: 60_000 - ms,
    });
  }
  expect(await countAttempt(store, [limit('a')], after(30_000))).toEqual({
    limit: limit('a'),
    isExhausted: true,
    remaining: 0,
    resetMs: 30_000,
  });
  expect(await countAttempt(store, [limit('a')], after(60_000))).toMatchObject(open);
  expect(await countAttempt(store, [limit('a')], after(60_001))).toMatchObject({
    isExhausted: true,
    resetMs: 9_999,
  });
});

test('a limit that was just reached is refused without a connection for a second, and then asked for again', async () => {
  const limits = [limit('wide', 10), limit('narrow', 1)];
  await countAttempt(store, limits, start);
  await countAttempt(store, limits, after(100));
  const asked = (ms: number) => countAttempt(store, limits, after(ms));
  // From now on the database would allow it.
  await query(store.fork(), 'delete from attempts', []);
  expect(await asked(600)).toEqual({
    limit: limit('narrow', 1),
    isExhausted: true,
    remaining: 0,
    resetMs: 59_400,
  });
  expect(await asked(1_000)).toMatchObject({ isExhausted: true, resetMs: 59_000 });
  expect(await asked(1_100)).toMatchObject(open);
});

test('keys do not share their attempts', async () => {
  expect(await countAttempt(store, [limit('b', 1)], start)).toMatchObject(open);
  expect(await countAttempt(store, [limit('c', 1)], start)).toMatchObject(open);
  expect(await countAttempt(store, [limit('b', 1)], start)).toMatchObject({
    isExhausted: true,
    limit: { key: 'b' },
  });
});

test('an attempt that one limit refuses does not count under the others', async () => {
  await countAttempt(store, [limit('full', 1)], start);
  expect(await countAttempt(store, [limit('free', 1), limit('full', 1)], start)).toMatchObject({
    limit: { key: 'full' },
  });
  expect(await countAttempt(store, [limit('free', 1)], start)).toMatchObject(open);
});

test('exactly the limit of concurrent attempts is allowed, under keys in any order', async () => {
  const limits = [limit('x', 5), limit('y', 50)];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      countAttempt(store, number % 2 ? limits : limits.toReversed(), start),
    ),
  );
  expect(answers.filter(({ isExhausted }) => !isExhausted)).toHaveLength(5);
});

test('forgotten attempts do not count', async () => {
  await countAttempt(store, [limit('d', 1)], start);
  await forgetAttempts(store.fork(), 'd');
  expect(await countAttempt(store, [limit('d', 1)], start)).toMatchObject(open);
});

test('expired attempts are deleted, and keys are stored as hashes', async () => {
  await countAttempt(store, [limit('person@example.com')], start);
  await countAttempt(store, [limit('later')], after(3_600_000));
  const rows = await query(store.fork(), 'select * from attempts', []);
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain('person');
});
