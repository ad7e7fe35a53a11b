import { expect, test } from '@jest/globals';
import { afterFailure, afterSuccess, type EndpointHealth, isGivenUp, retryAt } from './health.ts';

const now = new Date('2030-01-01T12:00:00Z');
const later = (ms: number) => new Date(now.getTime() + ms);
const healthy: EndpointHealth = {
  failures_in_row: 0,
  failing_since: null,
  probe_at: null,
  recovered_at: null,
  next_claim_at: null,
};

test.each([
  [1, 30],
  [2, 60],
  [3, 120],
  [4, 300],
  [5, 900],
  [6, 1_800],
  [7, 3_600],
  [8, 7_200],
  [9, 21_600],
])(
  'after failure %i the next attempt is %i seconds away, up to ten per cent more or less',
  (attempts, seconds) => {
    const delay = (random: number) => retryAt(attempts, { now, random })!.getTime() - now.getTime();
    expect(delay(0)).toBeCloseTo(900 * seconds);
    expect(delay(0.5)).toBeCloseTo(1_000 * seconds);
    expect(delay(1)).toBeCloseTo(1_100 * seconds);
  },
);

test('the tenth failure is the last', () => {
  expect(retryAt(10, { now })).toBeUndefined();
});

test('Retry-After makes the delay longer, never shorter', () => {
  const at = (retryAfterMs: number) => retryAt(1, { now, retryAfterMs, random: 0.5 });
  expect(at(1_000)).toEqual(later(30_000));
  expect(at(45_000)).toEqual(later(45_000));
  expect(at(99 * 3_600_000)).toEqual(later(6 * 3_600_000));
});

test('the circuit opens at the fifth failure, and probes are a quarter of its age apart, within 30 s and 15 min', () => {
  let health = healthy;
  for (let count = 0; count < 4; count += 1) health = afterFailure(health, now, 0.5);
  expect(health).toMatchObject({ failures_in_row: 4, failing_since: now, probe_at: null });
  const waitAt = (ms: number) =>
    afterFailure(health, later(ms), 0.5).probe_at!.getTime() - later(ms).getTime();
  expect(waitAt(0)).toBe(30_000);
  expect(waitAt(20 * 60_000)).toBe(5 * 60_000);
  expect(waitAt(3 * 3_600_000)).toBe(15 * 60_000);
});

test('a success ends a failure; claims are paced only if the circuit was open', () => {
  const failed = afterFailure(healthy, now);
  expect(afterSuccess(failed, now)).toEqual(healthy);
  const open = { ...failed, failures_in_row: 7, probe_at: now };
  expect(afterSuccess(open, later(5))).toEqual({
    ...healthy,
    recovered_at: later(5),
    next_claim_at: later(5),
  });
});

test('an endpoint is given up after five days and five failures without a success', () => {
  const failing = { ...healthy, failing_since: now, failures_in_row: 5 };
  const fiveDaysMs = 5 * 24 * 3_600_000;
  expect(isGivenUp(failing, later(fiveDaysMs - 1))).toBe(false);
  expect(isGivenUp(failing, later(fiveDaysMs))).toBe(true);
  expect(isGivenUp({ ...failing, failures_in_row: 4 }, later(9 * fiveDaysMs))).toBe(false);
  expect(isGivenUp(healthy, later(fiveDaysMs))).toBe(false);
});
