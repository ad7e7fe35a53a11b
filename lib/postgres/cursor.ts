import { invalidField } from '#lib/errors/errors.ts';

/** The place that a page ends at, as callers hand it back for the next one. It is not secret. */
export function writeCursor(place: string): string {
  return Buffer.from(place).toString('base64url');
}

/**
 * `read` returns undefined for what cannot be a place: INVALID_ARGUMENT for `cursor`, as for a text
 * that `writeCursor` does not write. A forged cursor only moves the start of the page.
 */
export function readCursor<Place>(
  cursor: string,
  read: (place: string) => Place | undefined,
): Place {
  const text = Buffer.from(cursor, 'base64url').toString();
  const place = writeCursor(text) === cursor ? read(text) : undefined;
  if (place === undefined) throw invalidField('cursor', 'invalid cursor');
  return place;
}

/**
 * Whether a text is a time that PostgreSQL takes: not February 31, which `Date` takes for March 3,
 * nor the year 0.
 */
export function isTimeOfCursor(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/.test(text)) return false;
  const time = new Date(text);
  if (Number.isNaN(time.getTime()) || text.startsWith('0000')) return false;
  return time.toISOString().slice(0, 19) === text.slice(0, 19);
}

/**
 * The same of a time with six digits of a second, so that texts are in the order of their times.
 */
export const isFullTime = (text: string) => /\.\d{6}Z$/.test(text) && isTimeOfCursor(text);
