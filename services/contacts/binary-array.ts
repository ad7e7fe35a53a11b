/**
 * The types of elements, and what stands for a value: JSON as its text, a time as microseconds
 * since 1970.
 */
export type ElementType = 'text' | 'float8' | 'timestamptz' | 'jsonb';

const headerBytes = 20;
/** Room for elements without a length of their own in JavaScript. */
const fixedBytes = 8;
const utf8BytesPerUnit = 3;
/** Of a longer text the bytes are counted. */
const shortMax = 1_000;
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
  const to = begin(oid, values);
  for (const value of values) {
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
function begin(oid: number, values: readonly unknown[]): EncodedArray {
  const room = values.reduce(
    (sum: number, value) => sum + 4 + fixedBytes + (typeof value === 'string' ? roomOf(value) : 0),
    headerBytes,
  );
  const bytes = Buffer.allocUnsafe(room);
  [1, 1, oid, values.length, 1].forEach((word, index) => {
    bytes.writeInt32BE(word, index * 4);
  });
  return { bytes, end: headerBytes };
}

function roomOf(text: string): number {
  return text.length <= shortMax ? text.length * utf8BytesPerUnit : Buffer.byteLength(text);
}

function writeText(to: EncodedArray, text: string): void {
  to.end += to.bytes.write(text, to.end);
}
