import { expect, test } from '@jest/globals';
import type { Made } from './calls.ts';
import { killable, makeSoakKills, restartable } from './disturb.ts';
import type { Sample } from './samples.ts';
import { checkAnswers, checkConnections, checkHistory, checkMemory, table } from './verdict.ts';

const forMs = 2_400_000;
const span = { startedAtMs: 1_000_000, forMs };

/** A value in the middle of a quarter, of a process that is old enough. */
const inQuarter = (quarter: number, value: number, over: Partial<Sample> = {}): Sample => ({
  ...{ name: 'messages', value, ageMs: 200_000 },
  atMs: span.startedAtMs + ((quarter + 0.5) * forMs) / 4,
  ...over,
});

test('memory is flat if the last quarter has at most 1.1 times what the second had, whichever replica had it', () => {
  const before = [inQuarter(1, 100), inQuarter(1, 100, { name: 'messages-2' })];
  expect(checkMemory([...before, inQuarter(3, 110)], span)).toEqual([
    { isGood: true, text: 'memory of messages: 100, then 110 (1.10 times), at most 1.1 times' },
  ]);
  const grown = checkMemory([...before, inQuarter(3, 111, { name: 'messages-2' })], span);
  expect(grown).toMatchObject([{ isGood: false }]);
});

test('processes that have just started, and the other quarters, do not count', () => {
  const young = inQuarter(3, 500, { ageMs: 119_999 });
  const others = [inQuarter(0, 900), inQuarter(2, 900), inQuarter(4, 900)];
  const samples = [inQuarter(1, 100), ...others, young];
  expect(checkMemory(samples, span)).toMatchObject([{ isGood: false }]);
  expect(checkMemory([...samples, inQuarter(3, 100)], span)).toMatchObject([{ isGood: true }]);
});

test('the memory of PostgreSQL, and of young processes in a short run, is shown without a verdict', () => {
  const samples = [inQuarter(1, 1, { name: 'postgres' }), inQuarter(3, 9, { name: 'postgres' })];
  const text = 'memory of postgres: 1, then 9 (9.00 times), no verdict';
  expect(checkMemory(samples, span)).toEqual([{ isGood: true, text }]);
  const early = (quarter: number, value: number) =>
    inQuarter(quarter, value, { atMs: span.startedAtMs + 40_000 + quarter * 80_000 });
  expect(checkMemory([early(1, 1), early(3, 9)], { ...span, forMs: 320_000 })).toEqual([
    { isGood: true, text: text.replace('postgres', 'messages') },
  ]);
});

test('connections and histories have their bounds, and must have been seen', () => {
  const growing = [
    ...[inQuarter(1, 50), inQuarter(1, 30, { name: 'contacts' })],
    ...[inQuarter(3, 60), inQuarter(3, 29, { name: 'contacts' })],
  ];
  expect(checkConnections(growing, span)).toEqual([
    { isGood: true, text: 'connections of messages: 50, then 60 (1.20 times), no verdict' },
    { isGood: true, text: 'connections of contacts: 30, then 29 (0.97 times), no verdict' },
    {
      isGood: false,
      text: 'connections to PostgreSQL: 80, then 89 (1.11 times), at most 1.1 times',
    },
  ]);
  const flat = checkConnections([inQuarter(1, 50), inQuarter(3, 50)], span);
  expect(flat.every(({ isGood }) => isGood)).toBe(true);
  expect(checkConnections([], span)).toMatchObject([{ isGood: false }]);
  expect(checkHistory([inQuarter(0, 10_001)]).isGood).toBe(false);
  expect(checkHistory([inQuarter(0, 700)]).isGood).toBe(true);
  expect(checkHistory([]).isGood).toBe(false);
});

const made = (status: number, ms = 10, quarter = 1): Made => ({
  ...{ kind: 'lists.get', status, ms },
  startedAtMs: span.startedAtMs + ((quarter + 0.5) * forMs) / 4,
});

test('a reset, a 429 and a 503 are repeated; a 500 is a fault of ours', () => {
  expect(checkAnswers([made(200), made(0), made(429), made(503)])).toEqual({
    isGood: true,
    text: '4 calls, 3 without an answer or to be repeated, 0 failed',
  });
  expect(checkAnswers([made(200), made(500)])).toEqual({
    isGood: false,
    text: '2 calls, 0 without an answer or to be repeated, 1 failed lists.get 500',
  });
});

test('the table has the times of answered calls, also by quarter', () => {
  const [, row = ''] = table([made(200, 7, 1), made(503, 900, 1), made(200, 9, 3)], span);
  expect(row.split(/ +/)).toEqual(['lists.get', '3', '7', '7', '7', '9', '1']);
});

test('one process is killed in each minute, by the seed, and each before any is killed twice', () => {
  const names = killable(['supervisor', 'postgres', 'inbox', 'messages', 'messages-2', 'gateway']);
  expect(names).toEqual(['postgres', 'messages', 'messages-2', 'gateway']);
  const kills = makeSoakKills(7, 8.5 * 60_000, names);
  expect(makeSoakKills(7, 8.5 * 60_000, names)).toEqual(kills);
  expect(makeSoakKills(8, 8.5 * 60_000, names)).not.toEqual(kills);
  expect(kills.map(({ afterMs }) => Math.floor(afterMs / 60_000))).toEqual([
    0, 1, 2, 3, 4, 5, 6, 7,
  ]);
  expect(new Set(kills.slice(0, 4).map(({ name }) => name)).size).toBe(4);
  expect(restartable(names)).toEqual(['gateway', 'messages', 'messages-2']);
});
