import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { giveTurn, largeMessageBytes, mapInTurns, ownTurn } from './turns.ts';

/** Keeps the thread, as work of some milliseconds does. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** Runs `mapInTurns`, and tells of each item and each turn of others, in order. */
async function watched(items: readonly number[], msOfEach: number) {
  const seen: (number | 'other')[] = [];
  const others = async () => {
    for (let turns = 0; seen.length < items.length + turns; turns += 1) {
      await nextTurn();
      seen.push('other');
    }
  };
  const watching = others();
  const results = await mapInTurns(items, (item) => {
    seen.push(item);
    work(msOfEach);
    return item * 10;
  });
  await watching;
  return { results, seen };
}

test('other work runs between portions, and the results are in order', async () => {
  const { results, seen } = await watched([0, 1, 2, 3, 4], 3);
  expect(results).toEqual([0, 10, 20, 30, 40]);
  expect(seen.indexOf('other')).toBeGreaterThan(seen.indexOf(0));
  expect(seen.indexOf('other')).toBeLessThan(seen.indexOf(4));
});

test('others have a turn after each of a few items that take long', async () => {
  const items = Array.from({ length: 40 }, (_, item) => item);
  const { seen } = await watched(items, 5);
  for (const item of items.slice(1)) expect(seen[seen.indexOf(item) - 1]).toBe('other');
});

test('only a large message gives way', async () => {
  let isOver = false;
  setImmediate(() => {
    isOver = true;
  });
  await giveTurn(largeMessageBytes);
  expect(isOver).toBe(false);
  await giveTurn(largeMessageBytes + 1);
  expect(isOver).toBe(true);
});

test('large work of many calls has one portion in a turn of the event loop', async () => {
  const seen: (number | 'turn')[] = [];
  let isOver = false;
  const turns = async () => {
    while (!isOver) {
      await nextTurn();
      seen.push('turn');
    }
  };
  const watching = turns();
  const call = async (number: number) => {
    for (let portion = 0; portion < 3; portion += 1) {
      await ownTurn();
      seen.push(number);
    }
  };
  await Promise.all([call(1), call(2), call(3)]);
  isOver = true;
  await watching;
  const portions = seen.filter((each) => each !== 'turn');
  expect(portions).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3]);
  const together = seen.filter((each, at) => each !== 'turn' && at > 0 && seen[at - 1] !== 'turn');
  expect(together).toEqual([]);
});
