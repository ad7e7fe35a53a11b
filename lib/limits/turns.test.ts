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
  expect(await mapInTurns([0, 1, 2, 3, 4], 2, count)).toEqual([0, 10, 20, 30, 40]);
  clearInterval(others);
  expect(seen.indexOf('other')).toBeGreaterThan(seen.indexOf('portion of 0'));
  expect(seen.indexOf('other')).toBeLessThan(seen.indexOf('portion of 4'));
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
