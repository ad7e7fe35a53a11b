import { create, type DescEnum, ScalarType } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { inexactInteger, isObject } from '#lib/json/text.ts';
import { FieldError } from './field-error.ts';

/** Turns a JSON value into a field's value, or throws a FieldError. */
export type DecodeValue = (json: unknown, depth: number) => unknown;

/** Deeper than any template tree, and shallow enough for all recursive code of the services. */
export const depthMax = 64;
const int32Max = 2 ** 31 - 1;
const uint32Max = 2 ** 32 - 1;

const scalarDecoders = new Map<ScalarType, DecodeValue>([
  [ScalarType.STRING, decodeString],
  [ScalarType.BOOL, decodeBool],
  [ScalarType.DOUBLE, decodeDouble],
  [ScalarType.INT32, (json) => decodeInteger(json, -int32Max - 1, int32Max)],
  [ScalarType.UINT32, (json) => decodeInteger(json, 0, uint32Max)],
  [
    ScalarType.INT64,
    (json) => BigInt(decodeInteger(json, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)),
  ],
]);

export function scalarDecoder(scalar: ScalarType): DecodeValue {
  const decode = scalarDecoders.get(scalar);
  if (!decode) throw new Error(`fields of scalar type ${ScalarType[scalar]} have no form in JSON`);
  return decode;
}

export function decodeString(json: unknown): string {
  if (typeof json !== 'string' || json === inexactInteger) {
    throw new FieldError('must be a string');
  }
  return storable(json);
}

/** Text that PostgreSQL and UTF-8 can represent. */
function storable(text: string): string {
  if (text.includes('\0')) throw new FieldError('must not contain NUL characters');
  if (!text.isWellFormed()) throw new FieldError('must be valid Unicode text');
  return text;
}

function decodeBool(json: unknown): boolean {
  if (typeof json !== 'boolean') throw new FieldError('must be a boolean');
  return json;
}

function decodeDouble(json: unknown): number {
  refuseInexact(json);
  if (typeof json !== 'number') throw new FieldError('must be a number');
  if (!Number.isFinite(json)) throw new FieldError('must be a finite number');
  return json;
}

function decodeInteger(json: unknown, min: number, max: number): number {
  if (json !== inexactInteger && !Number.isInteger(json)) {
    throw new FieldError('must be an integer');
  }
  if (typeof json !== 'number' || json < min || json > max) {
    throw new FieldError(`must be between ${min} and ${max}`);
  }
  return json;
}

function refuseInexact(json: unknown): void {
  if (json !== inexactInteger) return;
  throw new FieldError(`must not hold an integer beyond ${Number.MAX_SAFE_INTEGER}`);
}

/** An enum's texts in JSON: its values' names without the prefix, in lower case; zero has none. */
export function enumWords(desc: DescEnum): Map<string, number> {
  const prefixLength = desc.sharedPrefix?.length ?? 0;
  const named = desc.values.filter(({ number }) => number !== 0);
  return new Map(named.map(({ name, number }) => [name.slice(prefixLength).toLowerCase(), number]));
}

export function enumDecoder(desc: DescEnum): DecodeValue {
  const words = enumWords(desc);
  const problem = `must be one of ${[...words.keys()].join(', ')}`;
  return (json) => {
    const value = typeof json === 'string' ? words.get(json) : undefined;
    if (value === undefined) throw new FieldError(problem);
    return value;
  };
}

const rfc3339 =
  /^(\d{4}-\d\d-\d\d)[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
// The common range of Timestamp and RFC 3339.
const firstMs = Date.parse('0001-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59Z');

export function decodeTimestamp(json: unknown): Timestamp {
  if (typeof json !== 'string') throw new FieldError('must be an RFC 3339 time');
  const [, day = '', hours, minutes, seconds, fraction = '', zone = ''] = rfc3339.exec(json) ?? [];
  const ms = Date.parse(`${day}T${hours}:${minutes}:${seconds}${zone.toUpperCase()}`);
  if (!isDay(day) || !(ms >= firstMs && ms <= lastMs)) {
    throw new FieldError('must be an RFC 3339 time');
  }
  return create(TimestampSchema, {
    seconds: BigInt(ms / 1000),
    nanos: Number(fraction.padEnd(9, '0')),
  });
}

/** Date.parse reads the 30th of February as a day in March, so impossible days are refused here. */
function isDay(day: string): boolean {
  // Every month has the other days, and Date.parse checks the month.
  if (day.slice(8) <= '28') return true;
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

/** A free-form object. Its values are only checked, not converted. */
export function decodeStruct(json: unknown, depth: number): Record<string, unknown> {
  if (!isObject(json)) throw new FieldError('must be an object');
  checkFreeForm(json, depth);
  return json;
}

function checkFreeForm(json: unknown, depth: number): void {
  refuseInexact(json);
  if (typeof json === 'string') {
    storable(json);
  } else if (typeof json === 'number') {
    if (!Number.isFinite(json)) throw new FieldError('must hold finite numbers only');
  } else if (typeof json === 'object' && json !== null) {
    checkDepth(depth);
    checkChildren(json, depth + 1);
  }
}

function checkChildren(json: object, depth: number): void {
  if (Array.isArray(json)) {
    for (const element of json) checkFreeForm(element, depth);
    return;
  }
  for (const [key, value] of Object.entries(json)) {
    storable(key);
    checkFreeForm(value, depth);
  }
}

export function checkDepth(depth: number): void {
  if (depth > depthMax) throw new FieldError(`must not be nested deeper than ${depthMax} levels`);
}
