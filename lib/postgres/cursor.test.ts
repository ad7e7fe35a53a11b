import { expect, test } from '@jest/globals';
import { isFullTime, isTimeOfCursor, readCursor, writeCursor } from './cursor.ts';

test('a cursor is read as it was written', () => {
  const place = '2026-01-01T00:00:00.000001Z jörg@example.com';
  expect(readCursor(writeCursor(place), (text) => text)).toBe(place);
});

test('a place that cannot be is refused with the name of the field', () => {
  expect(() => readCursor('x', () => undefined)).toThrow('invalid cursor');
});

test.each([
  ['an id', '41e1b5a8c2f04b7d9a3e6c5d8f7a9b0c'],
  ['a cursor that has lost its end', writeCursor('reader@example.com').slice(0, -1)],
  ['a cursor with blanks', ` ${writeCursor('reader@example.com')}`],
])('%s is refused as a cursor', (_, cursor) => {
  expect(() => readCursor(cursor, (text) => text)).toThrow('invalid cursor');
});

test.each(['2026-02-28T23:59:59Z', '2024-02-29T00:00:00.123456Z', '0001-01-01T00:00:00Z'])(
  '%s is a time',
  (text) => {
    expect(isTimeOfCursor(text)).toBe(true);
  },
);

test.each([
  '2026-02-31T00:00:00Z',
  '2026-02-29T00:00:00.000000Z',
  '0000-01-01T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:00:00.0000001Z',
  '2026-01-01 00:00:00Z',
  '',
])('%s is none', (text) => {
  expect(isTimeOfCursor(text)).toBe(false);
});

test('a full time has six digits of a second', () => {
  const times = ['2026-02-28T00:00:00.123456Z', '2026-02-28T00:00:00.123Z', '2026-02-28T00:00:00Z'];
  expect(times.map(isFullTime)).toEqual([true, false, false]);
});
