import { fromJson } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { DateTime } from 'luxon';
import { nodeFault } from './fault.ts';
import type { TimeSpan } from './tree.ts';

const daysMax = 36_500;

/**
 * The span of a timeframe or of a filter by dates. The two names differ between the two in the
 * public JSON alone.
 */
export function readSpan(
  { operator, values, zone }: { operator: string; values: readonly string[]; zone: string },
  path: string,
): TimeSpan {
  const time = (place: number) => readTime(values[place] ?? '', zone, `${path}[${place}]`);
  switch (operator) {
    case 'in_date_range':
    case 'not_in_date_range':
      requireValues(values, 2, path);
      return { since: time(0), until: time(1) };
    case 'before_date':
      requireValues(values, 1, path);
      return { until: time(0) };
    case 'after_date':
      requireValues(values, 1, path);
      return { since: next(time(0)) };
    case 'in_the_last_days':
      requireValues(values, 1, path);
      return { lastDays: readDays(values[0] ?? '', `${path}[0]`) };
    default:
      return {};
  }
}

export function requireValues(values: readonly unknown[], count: number, path: string): void {
  if (values.length === count) return;
  throw nodeFault(path, `must have exactly ${count} value${count === 1 ? '' : 's'}`);
}

function readDays(text: string, path: string): number {
  const days = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(days <= daysMax)) throw nodeFault(path, 'must be a whole number from 0 to 36500');
  return days;
}

/** RFC 3339, or a day, which begins in the zone. Cut to microseconds. */
export function readTime(text: string, zone: string, path: string): Timestamp {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text);
  const time = DateTime.fromISO(text, { zone: isDay ? zone : 'UTC' });
  const isKnown = time.isValid && !text.startsWith('0000');
  if (isDay && isKnown) return parse(time.startOf('day').toUTC().toISO() ?? '', path);
  if (!isKnown) throw invalidTime(path);
  return parse(text, path);
}

function parse(text: string, path: string): Timestamp {
  try {
    const time = fromJson(TimestampSchema, text);
    time.nanos -= time.nanos % 1_000;
    return time;
  } catch {
    throw invalidTime(path);
  }
}

function invalidTime(path: string) {
  return nodeFault(path, 'must be a time in RFC 3339 or a day as YYYY-MM-DD');
}

/** The next microsecond. */
export function next(time: Timestamp): Timestamp {
  const nanos = time.nanos + 1_000;
  return nanos < 1_000_000_000
    ? { ...time, nanos }
    : { ...time, seconds: time.seconds + 1n, nanos: 0 };
}
