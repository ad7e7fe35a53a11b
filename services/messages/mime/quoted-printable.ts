import type { MessageBuffer } from './buffer.ts';

/**
 * Every piece of a body starts in column 0 and ends with a line break, soft or hard, so that no piece
 * depends on the one before and static ones are encoded once per template.
 */

const hex = Buffer.from('0123456789ABCDEF', 'latin1');
const softBreak = Buffer.from('=\r\n', 'latin1');
/** RFC 2045 allows 76 with the `=` of a soft break; an encoded character takes 3. */
const lastColumn = 72;
const shortValue = 72;

/** Encodes static text of a template; call once, keep the bytes. */
export function encodeStatic(text: string): Buffer {
  const plain = cleaned(text);
  // Outside the pool that the kept bytes come from: they would hold on to the space around them, five times their size.
  const source = Buffer.allocUnsafeSlow(Buffer.byteLength(plain));
  source.write(plain);
  const target = Buffer.allocUnsafeSlow(encodedLimit(source.length));
  return Buffer.from(target.subarray(0, encode(source, source.length, target, 0)));
}

let scratch = Buffer.allocUnsafeSlow(64 * 1024);

/** Writes a value into the message; a short plain one goes in as it is. */
export function appendValue(buffer: MessageBuffer, value: string): void {
  if (value === '') return;
  if (isPlain(value)) {
    buffer.reserve(value.length + 3);
    const end = buffer.length + buffer.bytes.write(value, buffer.length, 'latin1');
    softBreak.copy(buffer.bytes, end);
    buffer.length = end + 3;
    return;
  }
  const text = cleaned(value);
  if (scratch.length < text.length * 3) scratch = Buffer.allocUnsafeSlow(text.length * 3);
  const length = scratch.write(text, 0, 'utf8');
  buffer.reserve(encodedLimit(length));
  buffer.length = encode(scratch, length, buffer.bytes, buffer.length);
}

/** Printable ASCII without `=`, short, and no dot in front: the same in quoted-printable and for SMTP. */
function isPlain(value: string): boolean {
  if (value.length > shortValue || value.charCodeAt(0) === 0x2e) return false;
  for (let i = 0; i < value.length; i += 1) {
    const code = value.charCodeAt(i);
    if (code < 0x20 || code > 0x7e || code === 0x3d) return false;
  }
  return true;
}

/** Line breaks become LF alone, and NUL, which mail cannot carry, goes. */
function cleaned(text: string): string {
  return /[\r\0]/.test(text) ? text.replaceAll('\r\n', '\n').replaceAll('\0', '') : text;
}

/** Three bytes for each, a soft break for every 24 of them, and the last one. */
function encodedLimit(length: number): number {
  return length * 3 + Math.ceil(length / 20) * 3 + 8;
}

function encode(source: Buffer, length: number, target: Buffer, start: number): number {
  let at = start;
  let column = 0;
  for (let i = 0; i < length; i += 1) {
    const byte = source[i] ?? 0;
    if (byte === 0x0a) {
      target[at] = 0x0d;
      target[at + 1] = 0x0a;
      at += 2;
      column = 0;
      continue;
    }
    // A character of several bytes stays on one line, for decoders that look at lines.
    if (
      column >= lastColumn - 9 &&
      (byte & 0xc0) !== 0x80 &&
      (byte >= 0x80 || column >= lastColumn)
    ) {
      at += softBreak.copy(target, at);
      column = 0;
    }
    if (isLiteral(byte, column, source[i + 1], i + 1 === length)) {
      target[at] = byte;
      at += 1;
      column += 1;
    } else {
      target[at] = 0x3d;
      target[at + 1] = hex[byte >> 4] ?? 0;
      target[at + 2] = hex[byte & 15] ?? 0;
      at += 3;
      column += 3;
    }
  }
  return column === 0 ? at : at + softBreak.copy(target, at);
}

/** A dot in column 0 is encoded so that SMTP needs no dot-stuffing; white space before a line's end would be lost. */
function isLiteral(byte: number, column: number, next: number | undefined, last: boolean): boolean {
  if (byte === 0x2e) return column > 0;
  if (byte === 0x20 || byte === 0x09) return last || next !== 0x0a;
  return byte > 0x20 && byte < 0x7f && byte !== 0x3d;
}
