import { expect, test } from '@jest/globals';
import { Bulkhead } from './bulkhead.ts';

test('a caller has its maximum, all together have theirs, and what leaves makes room', () => {
  const bulkhead = new Bulkhead({ max: 3, perCallerMax: 2 });
  expect(['a', 'a', 'a', 'b', 'c'].map((caller) => bulkhead.enter(caller))).toEqual([
    ...[true, true, false, true, false],
  ]);
  expect(bulkhead.isFull).toBe(true);
  bulkhead.leave('a');
  expect([bulkhead.isFull, bulkhead.enter('c'), bulkhead.enter('a')]).toEqual([false, true, false]);
});

test('a caller that stands for many is limited with all others only', () => {
  const bulkhead = new Bulkhead({ max: 3, perCallerMax: 1 });
  const enter = () => bulkhead.enter('proxy', true);
  expect([enter(), enter(), enter(), enter()]).toEqual([true, true, true, false]);
});
