import { isUtf8 } from 'node:buffer';
import { CsvFault } from './fault.ts';

const lineFeed = 0x0a;

/** Checks that a file is UTF-8, part by part. */
export class Utf8Check {
  #tail: Buffer = Buffer.alloc(0);
  #lines = 1;

  /** The whole characters so far that were not given yet, up to the line with a fault. */
  take(part: Buffer): { whole: Buffer; fault: CsvFault | undefined } {
    const bytes = this.#tail.length === 0 ? part : Buffer.concat([this.#tail, part]);
    const end = wholeEnd(bytes);
    const whole = bytes.subarray(0, end);
    if (!isUtf8(whole)) return this.#upToFault(whole);
    // A copy, so that the rest of the part is not kept.
    this.#tail = Buffer.from(bytes.subarray(end));
    this.#lines += lineFeedsIn(whole);
    return { whole, fault: undefined };
  }

  end(): CsvFault | undefined {
    return this.#tail.length > 0 ? this.#fault() : undefined;
  }

  #upToFault(bytes: Buffer) {
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(lineFeed, from);
      if (end === -1 || !isUtf8(bytes.subarray(from, end))) break;
      this.#lines += 1;
      from = end + 1;
    }
    return { whole: bytes.subarray(0, from), fault: this.#fault() };
  }

  #fault(): CsvFault {
    return new CsvFault(this.#lines, 'the text is not UTF-8; save the file in that encoding');
  }
}

/** The place behind the last whole character: at most three bytes of one may be missing. */
function wholeEnd(bytes: Buffer): number {
  const { length } = bytes;
  for (let back = 1; back <= Math.min(3, length); back += 1) {
    const byte = bytes[length - back] ?? 0;
    if (byte < 0x80) return length;
    if (byte < 0xc0) continue;
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return size > back ? length - back : length;
  }
  return length;
}

function lineFeedsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) {
    count += 1;
  }
  return count;
}
