/**
 * The types of elements, and what stands for a value: JSON as its text, a time as microseconds
 * since 1970.
 */
export type ElementType = 'text' | 'float8' | 'timestamptz' | 'jsonb';

const headerBytes = 20;
/** Room for elements without a length of their own in JavaScript. */
const fixedBytes = 8;
const utf8BytesPerUnit = 3;
/** PostgreSQL counts from 2000. */
const epochMicros = 946_684_800_000_000n;

type EncodedArray = { bytes: Buffer; end: number };
type Codec = { oid: number; write(to: EncodedArray, value: unknown): void };

const codecs: Record<ElementType, Codec> = {
  text: { oid: 25, write: (to, value) => writeText(to, String(value)) },
  float8: {
    oid: 701,
    write(to, value) {
      to.end = to.bytes.writeDoubleBE(Number(value), to.end);
    },
  },
  timestamptz: {
    oid: 1184,
    write(to, value) {
      to.end = to.bytes.writeBigInt64BE((value as bigint) - epochMicros, to.end);
    },
  },
  jsonb: {
    oid: 3802,
    write(to, value) {
      // The version of the form.
      to.end = to.bytes.writeUInt8(1, to.end);
      writeText(to, String(value));
    },
  },
};

/**
 * An array as a parameter in PostgreSQL's binary form: neither side escapes, scans or parses text.
 * Undefined and null are null; without any value the whole array is null, of which `unnest` makes
 * no rows.
 */
export function binaryArray(type: ElementType, values: readonly unknown[]): Buffer | null {
  if (values.every((value) => value === undefined || value === null)) return null;
  const { oid, write } = codecs[type];
  const to = begin(oid, values.length);
  for (const value of values) {
    reserve(to, value);
    const start = to.end;
    to.end += 4;
    if (value === undefined || value === null) {
      to.bytes.writeInt32BE(-1, start);
      continue;
    }
    write(to, value);
    to.bytes.writeInt32BE(to.end - start - 4, start);
  }
  return to.bytes.subarray(0, to.end);
}

/** One dimension, with nulls, counted from 1. */
function begin(oid: number, length: number): EncodedArray {
  const bytes = Buffer.allocUnsafe(headerBytes + length * 32);
  [1, 1, oid, length, 1].forEach((word, index) => {
    bytes.writeInt32BE(word, index * 4);
  });
  return { bytes, end: headerBytes };
}

function reserve(to: EncodedArray, value: unknown): void {
  const units = typeof value === 'string' ? value.length : 0;
  const needed = to.end + 4 + fixedBytes + units * utf8BytesPerUnit;
  if (needed <= to.bytes.length) return;
  const bytes = Buffer.allocUnsafe(needed * 2);
  to.bytes.copy(bytes, 0, 0, to.end);
  to.bytes = bytes;
}

function writeText(to: EncodedArray, text: string): void {
  to.end += to.bytes.write(text, to.end);
}
