import { isMessage } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';

const jsonMaxBytes = 65_536;
// Every protobuf reader accepts this; some stop at a hundred nested messages.
const jsonDepthMax = 32;

const firstSecond = -62_135_596_800n;
const lastSecond = 253_402_300_799n;

/** A time of the years 1 to 9999, since 1970; PostgreSQL keeps no more. */
export function microsOf(value: unknown): bigint | undefined {
  if (!isMessage(value, TimestampSchema)) return undefined;
  const { seconds, nanos } = value;
  if (seconds < firstSecond || seconds > lastSecond || nanos < 0 || nanos > 999_999_999) {
    return undefined;
  }
  return seconds * 1_000_000n + BigInt(Math.trunc(nanos / 1000));
}

/** The text of a JSON value, or why it can't be stored. */
export function jsonText(value: unknown): { text: string } | { fault: string } {
  const fault = jsonFault(value, jsonDepthMax);
  if (fault) return { fault };
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text) + (/e[+-]\d/.test(text) ? digitsOf(value) : 0);
  return bytes <= jsonMaxBytes ? { text } : { fault: 'must be at most 64 KiB' };
}

/**
 * PostgreSQL writes all digits of numbers that JSON has with an exponent: how many more bytes that
 * takes.
 */
function digitsOf(value: unknown): number {
  if (typeof value === 'number') return Number(/e[+-](\d+)$/.exec(String(value))?.[1] ?? 0);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, inner) => sum + digitsOf(inner), 0);
}

/** Text that PostgreSQL cannot store or JSON cannot contain. */
function jsonFault(value: unknown, depthLeft: number): string | undefined {
  if (typeof value === 'string') {
    return value.includes('\0') ? 'holds text that can not be stored' : undefined;
  }
  if (typeof value === 'number') {
    return Number.isFinite(value) ? undefined : 'must hold finite numbers only';
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depthLeft === 0) return `must be nested at most ${jsonDepthMax} levels deep`;
  for (const [key, inner] of Object.entries(value)) {
    const fault = jsonFault(key, depthLeft) ?? jsonFault(inner, depthLeft - 1);
    if (fault) return fault;
  }
  return undefined;
}
