import { expect, test } from '@jest/globals';
import { FairShares } from './fair-shares.ts';

test('one caller may have half, and an eighth of what is over', () => {
  const shares = new FairShares(128);
  const take = (caller: string, by: number) => {
    const verdict = shares.verdict(caller, by);
    if (verdict === 'granted') shares.change(caller, by);
    return verdict;
  };
  expect(take('a', 64)).toBe('granted');
  expect(take('a', 1)).toBe('caller');
  for (const other of ['b', 'c', 'd', 'e']) {
    expect(take(other, 16)).toBe('granted');
    expect(take(other, 1)).toBe('caller');
  }
  expect(take('f', 1)).toBe('all');
  shares.change('a', -64);
  expect(take('f', 1)).toBe('granted');
  expect(take('a', 17)).toBe('caller');
});
