import { expect, test } from '@jest/globals';
import { BulkPace } from './bulk-pace.ts';

test('batches are further apart while urgent mail takes long, and closer again when it is quick', () => {
  const pace = new BulkPace();
  expect(pace.admitted(0)).toBe(0);
  for (let n = 0; n < 10; n += 1) pace.urgentTook(200, n);
  const held = pace.admitted(10);
  expect(held).toBeGreaterThan(100);
  expect(pace.opensInMs(10 + held)).toBe(0);
  for (let n = 0; n < 100; n += 1) pace.urgentTook(5, 20 + n);
  expect(pace.admitted(120)).toBe(0);
});

test('at least a batch a second goes on, and without urgent mail none waits', () => {
  const pace = new BulkPace();
  for (let n = 0; n < 1_000; n += 1) pace.urgentTook(5_000, n);
  expect(pace.admitted(1_000)).toBe(1_000);
  expect(pace.opensInMs(1_999 + 2)).toBe(0);
  expect(pace.admitted(3_000)).toBe(0);
});
