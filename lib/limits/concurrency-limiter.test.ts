import { setTimeout as sleep } from 'node:timers/promises';
import { Code } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { until } from '../../test/stack/until.ts';
import { ConcurrencyLimiter, heavyLimits, limitsOfPool } from './concurrency-limiter.ts';

const limits = { ...limitsOfPool(10), tenantWaitingMax: 20, waitMaxMs: 60_000 };
let limiter: ConcurrencyLimiter;
/** Work that has a place, in the order in which it got it. */
let inside: { name: string; leave: (restMs?: number) => void }[];
beforeEach(() => {
  limiter = new ConcurrencyLimiter(limits);
  inside = [];
});

const never = new AbortController().signal;

async function enter(name: string, signal = never): Promise<void> {
  const leave = await limiter.enter(name, signal);
  inside.push({ name, leave });
}

/** Lets what can enter do so. */
const settle = () => new Promise((done) => setImmediate(done));
const names = () => inside.map(({ name }) => name);
const count = (name: string) => names().filter((each) => each === name).length;

async function leave(name: string, restMs = 0): Promise<void> {
  const at = inside.findIndex((each) => each.name === name);
  inside.splice(at, 1)[0]?.leave(restMs);
  await settle();
}

const many = (name: string, times: number) =>
  Array.from({ length: times }, () => enter(name).catch(() => {}));

test('a pool of ten has eight places for tenants', () => {
  expect(limitsOfPool(10)).toMatchObject({ places: 8 });
  expect(limitsOfPool(2)).toMatchObject({ places: 1 });
});

test('a tenant alone leaves two places to newcomers', async () => {
  many('a', 20);
  await settle();
  expect(count('a')).toBe(6);
  await Promise.all([enter('b'), enter('c')]);
  many('d', 1);
  await leave('a');
  expect(count('d')).toBe(1);
});

test('while others wait a tenant has half, and all take turns', async () => {
  many('a', 20);
  await settle();
  many('b', 10);
  many('c', 2);
  await settle();
  for (let each = 0; each < 4; each += 1) await leave('a');
  // `b` has its half; the last place went to `a`, whose turn it was.
  expect([count('a'), count('b'), count('c')]).toEqual([3, 4, 1]);
  await leave('b');
  expect([count('a'), count('b'), count('c')]).toEqual([3, 3, 2]);
});

test('one tenant has two of three places', async () => {
  limiter = new ConcurrencyLimiter(heavyLimits);
  many('a', 10);
  await settle();
  expect(count('a')).toBe(2);
  await enter('b');
  many('c', 1);
  await settle();
  expect(count('c')).toBe(0);
  await leave('a');
  expect([count('a'), count('b'), count('c')]).toEqual([2, 1, 0]);
  await leave('a');
  expect([count('a'), count('b'), count('c')]).toEqual([1, 1, 1]);
});

test('while others make calls, even quick ones, a tenant has one heavy place', async () => {
  limiter = new ConcurrencyLimiter(heavyLimits);
  limiter.noteCall('b');
  limiter.noteCall('a');
  many('a', 3);
  await settle();
  expect(count('a')).toBe(1);
  await sleep(1_050);
  limiter.noteCall('a');
  await leave('a');
  many('a', 1);
  await settle();
  expect(count('a')).toBe(2);
});

test('while others make calls, a tenant has a heavy place again after twice as long as it had it', async () => {
  limiter = new ConcurrencyLimiter(heavyLimits);
  await enter('a');
  await sleep(200);
  limiter.noteCall('b');
  const leftAtMs = performance.now();
  await leave('a');
  many('a', 1);
  await settle();
  expect(count('a')).toBe(0);
  // The others have all places meanwhile.
  many('b', 1);
  many('c', 1);
  many('d', 1);
  await settle();
  expect([count('b'), count('c'), count('d')]).toEqual([1, 1, 1]);
  await leave('b');
  await until('a has a place again', async () => count('a') === 1);
  expect(performance.now() - leftAtMs).toBeGreaterThanOrEqual(399);
});

test('a tenant that rests has no place, and others have all of them', async () => {
  limiter = new ConcurrencyLimiter(heavyLimits);
  many('a', 2);
  await settle();
  const beganAtMs = performance.now();
  await leave('a', 200);
  await leave('a', 200);
  const again = enter('a');
  await Promise.all([enter('b'), enter('c'), enter('d')]);
  expect(count('a')).toBe(0);
  for (const name of ['b', 'c', 'd']) await leave(name);
  await again;
  expect(performance.now() - beganAtMs).toBeGreaterThanOrEqual(395);
});

test('a tenant that rests for longer than a call may wait gets ResourceExhausted', async () => {
  limiter = new ConcurrencyLimiter({ ...heavyLimits, waitMaxMs: 20 });
  await enter('a');
  await leave('a', 5_000);
  await expect(enter('a')).rejects.toMatchObject({ code: Code.ResourceExhausted });
  await enter('b');
});

test('a tenant that is alone has no more than the places for one that is', async () => {
  limiter = new ConcurrencyLimiter({ ...heavyLimits, places: 20, aloneMax: 3 });
  many('a', 10);
  await settle();
  expect(count('a')).toBe(3);
});

test('a call beyond those that a tenant may have waiting is refused as its own fault', async () => {
  many('a', 26);
  await settle();
  await expect(enter('a')).rejects.toMatchObject({ code: Code.ResourceExhausted });
  await expect(enter('b')).resolves.toBeUndefined();
});

test('a wait ends: for the tenant with places as its own fault, for another as an outage', async () => {
  limiter = new ConcurrencyLimiter({ ...limits, waitMaxMs: 50 });
  many('a', 6);
  many('b', 2);
  await settle();
  await expect(enter('a')).rejects.toMatchObject({ code: Code.ResourceExhausted });
  await expect(enter('c')).rejects.toMatchObject({ code: Code.Unavailable });
  // Neither left anything behind.
  await leave('a');
  await enter('c');
});

test('work whose caller leaves waits no longer', async () => {
  many('a', 6);
  many('b', 2);
  const caller = new AbortController();
  const left = enter('c', caller.signal);
  caller.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  await expect(enter('c', caller.signal)).rejects.toThrow('left');
  await leave('a');
  expect(count('c')).toBe(0);
});
