import { Code } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { Lanes, lanesOfPool } from './lanes.ts';

const limits = { ...lanesOfPool(10), tenantWaitingMax: 20, waitMaxMs: 60_000 };
let lanes: Lanes;
/** Work that has a place, in the order in which it got it. */
let inside: { name: string; leave: () => void }[];
beforeEach(() => {
  lanes = new Lanes(limits);
  inside = [];
});

const never = new AbortController().signal;

function enter(name: string, { isHeavy = false, signal = never } = {}): Promise<void> {
  const workspaceId = name.split(' ')[0] ?? '';
  return lanes
    .enter({ workspaceId, isHeavy }, signal)
    .then((leave) => void inside.push({ name, leave }));
}

/** Lets what can enter do so. */
const settle = () => new Promise((done) => setImmediate(done));
const names = () => inside.map(({ name }) => name);
const count = (name: string) => names().filter((each) => each === name).length;

async function leave(name: string): Promise<void> {
  const at = inside.findIndex((each) => each.name === name);
  inside.splice(at, 1)[0]?.leave();
  await settle();
}

const many = (name: string, times: number, options = {}) =>
  Array.from({ length: times }, () => enter(name, options).catch(() => {}));

test('a pool of ten has eight places for tenants, three of them for heavy work', () => {
  expect(lanesOfPool(10)).toMatchObject({ places: 8, heavyPlaces: 3 });
  expect(lanesOfPool(2)).toMatchObject({ places: 1, heavyPlaces: 1 });
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

test('heavy work has three places, one tenant two of them, and light work goes on', async () => {
  many('a', 10, { isHeavy: true });
  await settle();
  expect(count('a')).toBe(2);
  await enter('b', { isHeavy: true });
  many('c', 1, { isHeavy: true });
  await settle();
  expect(count('c')).toBe(0);
  await Promise.all([enter('d'), enter('e'), enter('d')]);
  await leave('b');
  expect(count('c')).toBe(1);
});

test('a tenant may wait with so much, and more is refused as its own fault', async () => {
  many('a', 26);
  await settle();
  await expect(enter('a')).rejects.toMatchObject({ code: Code.ResourceExhausted });
  await expect(enter('b')).resolves.toBeUndefined();
});

test('a wait ends: for the tenant with places as its own fault, for another as an outage', async () => {
  lanes = new Lanes({ ...limits, waitMaxMs: 50 });
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
  const left = enter('c', { signal: caller.signal });
  caller.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  await expect(enter('c', { signal: caller.signal })).rejects.toThrow('left');
  await leave('a');
  expect(count('c')).toBe(0);
});
