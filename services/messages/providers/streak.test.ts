import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { SendOutcome } from './outcome.ts';
import { Streak } from './streak.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const refused: SendOutcome = {
  kind: 'failed',
  info: '550 5.7.1 policy',
  alike: { sign: 'RCPT 550 5.7.1 policy', refused: 'RCPT', mayBeAccount: false },
};

test('a slow server that refuses everybody alike fails nobody, however long each answer takes', () => {
  const streak = new Streak<number>();
  const decided = [];
  for (let message = 0; message < 10; message += 1) {
    jest.advanceTimersByTime(10_000);
    // The next message is with the server meanwhile.
    decided.push(...streak.takeLate(true));
    decided.push(...streak.add(message, refused, false));
  }
  expect(decided.map(({ message }) => message)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(decided.map(({ outcome }) => outcome.kind)).toEqual(Array(10).fill('deferred'));
});

test('refusals that nothing else decides stand after two seconds, and after thirty where a server is stuck', () => {
  const streak = new Streak<number>();
  for (const [isBusy, waitMs] of [
    [false, 2_000],
    [true, 30_000],
  ] as const) {
    expect(streak.add(1, refused, false)).toEqual([]);
    jest.advanceTimersByTime(waitMs);
    expect(streak.takeLate(isBusy)).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(streak.takeLate(isBusy)).toEqual([{ message: 1, outcome: refused }]);
  }
});
