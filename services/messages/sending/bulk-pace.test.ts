import { expect, test } from '@jest/globals';
import { BulkPace } from './bulk-pace.ts';

test('bulk mail is held from the first urgent mail that took long until one is quick', () => {
  const pace = new BulkPace();
  expect(pace.isHeld(0)).toBe(false);
  expect(pace.urgentTook(200, 10)).toBeGreaterThan(0);
  expect(pace.isHeld(11)).toBe(true);
  expect(pace.urgentTook(200, 12)).toBe(0);
  pace.urgentTook(5, 20);
  expect(pace.isHeld(20)).toBe(false);
});

test('however slow urgent mail is, bulk mail goes on for a fifteenth of the time', () => {
  const pace = new BulkPace();
  let freeMs = 0;
  for (let nowMs = 0; nowMs < 10_000; nowMs += 1) {
    pace.urgentTook(5_000, nowMs);
    if (!pace.isHeld(nowMs)) freeMs += 1;
  }
  expect(freeMs).toBeGreaterThan(650);
});

test('without urgent mail none is held for long', () => {
  const pace = new BulkPace();
  const heldMs = pace.urgentTook(5_000, 0);
  expect(pace.isHeld(heldMs)).toBe(false);
});
