import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { giveTurn, largeMessageBytes, mapInTurns } from './turns.ts';

test('other work runs between portions, and the results are in order', async () => {
  const seen: string[] = [];
  const others = setInterval(() => seen.push('other'), 0);
  const count = (item: number) => {
    if (item % 2 === 0) seen.push(`portion of ${item}`);
    const until = performance.now() + 2;
    while (performance.now() < until);
    return item * 10;
  };
  expect(await mapInTurns([0, 1, 2, 3, 4], count)).toEqual([0, 10, 20, 30, 40]);
  clearInterval(others);
  expect(seen.indexOf('other')).toBeGreaterThan(seen.indexOf('portion of 0'));
  expect(seen.indexOf('other')).toBeLessThan(seen.indexOf('portion of 4'));
});

test('a few items that take long each give way as many that take little', async () => {
  const turns: number[] = [];
  const others = async (left: number) => {
    for (; left > 0; left -= 1) {
      turns.push(performance.now());
      await nextTurn();
    }
  };
  const work = mapInTurns(Array(40).fill(5), (ms) => {
    const until = performance.now() + ms;
    while (performance.now() < until);
  });
  await Promise.all([work, others(20)]);
  const waits = turns.slice(1).map((at, index) => at - (turns[index] ?? 0));
  // By turns of 250 items it is the whole work: 200 ms.
  expect(Math.max(...waits)).toBeLessThan(100);
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
