import { expect, test } from '@jest/globals';
import { ReportPace } from './pace.ts';

const minuteMs = 60_000;

/** How long work rests at a time when it took so long, in a process that sends much. */
function restMs(tookMs: number, waitedMs: number, isSending = true): number {
  const pace = new ReportPace(() => isSending);
  pace.worked(tookMs, waitedMs, minuteMs);
  return Math.round((pace.nextAt(minuteMs)?.getTime() ?? minuteMs) - minuteMs);
}

test('beside mail work has a twentieth of the time, more after a minute, and all after ten', () => {
  expect(restMs(100, 0)).toBe(1_900);
  expect(restMs(100, minuteMs)).toBe(1_900);
  const rests = [2, 4, 6, 8, 10].map((minutes) => restMs(100, minutes * minuteMs));
  expect(rests).toEqual(rests.toSorted((one, other) => other - one));
  expect(rests.at(-1)).toBe(0);
  expect(restMs(100, 60 * minuteMs)).toBe(0);
});

test('without mail work never rests', () => {
  expect(restMs(100, 0, false)).toBe(0);
});

test('rests of several workspaces add up', () => {
  const pace = new ReportPace(() => true);
  for (let each = 0; each < 3; each += 1) pace.worked(100, 0, minuteMs);
  expect(pace.nextAt(minuteMs)).toEqual(new Date(minuteMs + 5_700));
  expect(pace.nextAt(minuteMs + 5_700)).toBeUndefined();
});

test('work rests for a minute at most, however long it took, and not once the mail is sent', () => {
  let isSending = true;
  const pace = new ReportPace(() => isSending);
  for (let each = 0; each < 100; each += 1) pace.worked(15_000, 0, minuteMs);
  expect(pace.nextAt(minuteMs)).toEqual(new Date(2 * minuteMs));
  isSending = false;
  expect(pace.nextAt(minuteMs)).toBeUndefined();
});

test('jobs that a rest puts off come back one after the other, within a minute', () => {
  const pace = new ReportPace(() => true);
  pace.worked(100, 0, minuteMs);
  const turns = Array.from({ length: 40 }, () => pace.turn(minuteMs)?.getTime() ?? 0);
  expect(turns[0]).toBe(minuteMs + 1_900);
  for (const [place, turn] of turns.slice(1, 30).entries()) {
    expect(turn).toBeGreaterThan(turns[place] ?? 0);
  }
  expect(Math.max(...turns)).toBe(2 * minuteMs);
  expect(pace.turn(minuteMs + 1_900)).toBeUndefined();
});
