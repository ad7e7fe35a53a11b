import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { invalidField } from '#lib/errors/errors.ts';

const firstMs = Date.parse('0001-01-01T00:00:00Z');
const endMs = Date.parse('9999-12-31T23:59:59.999Z');

/** A time of a request as PostgreSQL takes it, to the microsecond; undefined if it is not given. */
export function readTime(field: string, given: Timestamp | undefined): string | undefined {
  if (!given) return undefined;
  const ms = Number(given.seconds) * 1_000;
  if (!(ms >= firstMs && ms <= endMs && given.nanos >= 0 && given.nanos <= 999_999_999)) {
    throw invalidField(field, `${field} must lie in the years 1 to 9999`);
  }
  const second = timestampDate({ ...given, nanos: 0 })
    .toISOString()
    .slice(0, 19);
  const micros = `${Math.trunc(given.nanos / 1_000)}`.padStart(6, '0');
  return `${second}.${micros}Z`;
}
