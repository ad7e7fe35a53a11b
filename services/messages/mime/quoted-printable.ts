import type { MessageBuffer } from './buffer.ts';

/**
 * Every piece of a body starts in column 0 and ends with a line break, soft or hard, so that no
 * piece depends on the one before and static ones are encoded once per template.
 */

const hex = Buffer.from('0123456789ABCDEF', 'latin1');
const softBreak = Buffer.from('=\r\n', 'latin1');
/** RFC 2045 allows 76 with the `=` of a soft break; an encoded character takes 3. */
const lastColumn = 72;
/** Of a line of a plain value. */
const lineCharacters = 72;

/** Encodes static text of a template; call once, keep the bytes. */
export function encodeStatic(text: string): Buffer {
  const plain = cleaned(text);
  // Outside the pool that the kept bytes come from: they would hold on to the space around them,
  // five times their size.
  const source = Buffer.allocUnsafeSlow(Buffer.byteLength(plain));
  source.write(plain);
  const target = Buffer.allocUnsafeSlow(encodedLimit(source.length));
  return Buffer.from(target.subarray(0, encode(source, source.length, target, 0)));
}

/**
 * Encodes bytes whose lines end with LF alone, in any charset that has ASCII. Unlike texts they may
 * end without a soft break: what follows them does not go on with their last line.
 */
export function encodeBytes(source: Buffer): Buffer {
  const target = Buffer.allocUnsafeSlow(encodedLimit(source.length));
  return target.subarray(0, encode(source, source.length, target, 0));
}

/** The bytes of a body, with its line ends; undefined where readers may disagree about them. */
export function decodeBytes(body: Buffer): Buffer | undefined {
  const target = Buffer.allocUnsafeSlow(body.length);
  let at = 0;
  // Behind the last byte that is no space: spaces that end a line are not of the text.
  let inked = 0;
  for (let i = 0; i < body.length; i += 1) {
    const byte = body[i] ?? 0;
    if (byte === 0x3d) {
      const end = softBreakEnd(body, i + 1);
      if (end !== undefined) {
        i = end - 1;
      } else {
        const pair = body.toString('latin1', i + 1, i + 3);
        if (!/^[0-9a-f]{2}$/i.test(pair)) return undefined;
        target[at++] = Number.parseInt(pair, 16);
        i += 2;
      }
      inked = at;
      continue;
    }
    if (byte === 0x0d || byte === 0x0a) at = inked;
    target[at++] = byte;
    if (byte !== 0x20 && byte !== 0x09) inked = at;
  }
  return target.subarray(0, inked);
}

/** The start of the line after a soft break; undefined if there is none. */
function softBreakEnd(body: Buffer, from: number): number | undefined {
  let at = from;
  while (body[at] === 0x20 || body[at] === 0x09) at += 1;
  if (at === body.length) return at;
  return body[at] === 0x0d && body[at + 1] === 0x0a ? at + 2 : undefined;
}

let scratch = Buffer.allocUnsafeSlow(64 * 1024);

/** Writes a value into the message; a plain one goes in as it is, cut into lines. */
export function appendValue(buffer: MessageBuffer, value: string): void {
  if (value === '') return;
  if (isPlain(value)) {
    appendPlain(buffer, value);
    return;
  }
  const text = cleaned(value);
  if (scratch.length < text.length * 3) scratch = Buffer.allocUnsafeSlow(text.length * 3);
  const length = scratch.write(text, 0, 'utf8');
  buffer.reserve(encodedLimit(length));
  buffer.length = encode(scratch, length, buffer.bytes, buffer.length);
}

/**
 * Printable ASCII without `=`, with no dot where a line might start: the same in quoted-printable.
 */
function isPlain(value: string): boolean {
  for (let i = 0; i < value.length; i += 1) {
    const code = value.charCodeAt(i);
    if (code < 0x20 || code > 0x7e || code === 0x3d) return false;
    if (code === 0x2e && i % lineCharacters === 0) return false;
  }
  return true;
}

function appendPlain(buffer: MessageBuffer, value: string): void {
  buffer.reserve(value.length + Math.ceil(value.length / lineCharacters) * softBreak.length);
  const { bytes } = buffer;
  let at = buffer.length;
  for (let start = 0; start < value.length; start += lineCharacters) {
    at += bytes.write(value.slice(start, start + lineCharacters), at, 'latin1');
    bytes[at] = 0x3d;
    bytes[at + 1] = 0x0d;
    bytes[at + 2] = 0x0a;
    at += softBreak.length;
  }
  buffer.length = at;
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

/**
 * A dot in column 0 is encoded, so that no server needs dot-stuffing; white space before a line's
 * end would be lost.
 */
function isLiteral(byte: number, column: number, next: number | undefined, last: boolean): boolean {
  if (byte === 0x2e) return column > 0;
  if (byte === 0x20 || byte === 0x09) return last || next !== 0x0a;
  return byte > 0x20 && byte < 0x7f && byte !== 0x3d;
}
