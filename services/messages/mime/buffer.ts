const minimumBytes = 64 * 1024;
/** A connection keeps no more than this for its next message. */
const keptBytes = 1024 * 1024;
/** As sent. Gmail takes 25 MB and few servers take more; a runaway template ends here. */
const maximumMiB = 25;
const maximumBytes = maximumMiB * 1024 * 1024;
/** A finished mail with its stuffed dots, so that it fits into a buffer with its signature. */
export const mailMaxBytes = 26_000_000;

const dot = 0x2e;
const lf = 0x0a;

/** How many dots begin a line. */
export function stuffedDots(lines: Buffer): number {
  let count = 0;
  let before = lf;
  for (const byte of lines) {
    if (byte === dot && before === lf) count += 1;
    before = byte;
  }
  return count;
}

/**
 * The one buffer that a connection writes its messages into. It is used again once the server has
 * answered, because then the kernel has taken all of it.
 */
export class MessageBuffer {
  bytes: Buffer = Buffer.allocUnsafeSlow(minimumBytes);
  length = 0;
  /** The offset of the message: what is written before it comes last. */
  #start = 0;

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    if (needed > maximumBytes) throw new RangeError(`the message is larger than ${maximumMiB} MiB`);
    const larger = Buffer.allocUnsafeSlow(
      Math.min(maximumBytes, Math.max(needed, this.bytes.length * 2)),
    );
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }

  appendBytes(piece: Buffer): void {
    this.reserve(piece.length);
    piece.copy(this.bytes, this.length);
    this.length += piece.length;
  }

  /** Appends lines with one dot more where one begins a line (RFC 5321, 4.5.2). */
  appendStuffed(lines: Buffer): void {
    if (lines[0] !== dot && !lines.includes('\r\n.')) {
      this.appendBytes(lines);
      return;
    }
    this.reserve(lines.length + stuffedDots(lines));
    const { bytes } = this;
    let { length } = this;
    let before = lf;
    for (const byte of lines) {
      if (byte === dot && before === lf) bytes[length++] = dot;
      bytes[length++] = byte;
      before = byte;
    }
    this.length = length;
  }

  /** Appends text of which every character is one byte. */
  appendLatin1(text: string): void {
    this.reserve(text.length);
    this.length += this.bytes.write(text, this.length, 'latin1');
  }

  /**
   * Puts text of one-byte characters before what is written, into the room that was left for it.
   */
  prepend(text: string): void {
    if (text.length > this.#start) throw new RangeError('there is no room before the message');
    this.#start -= text.length;
    this.bytes.write(text, this.#start, 'latin1');
  }

  /**
   * Starts the next message, with room for as many bytes before it, and lets go of the room that a
   * large one took.
   */
  clear(room = 0): void {
    this.length = room;
    this.#start = room;
    if (this.bytes.length > keptBytes) this.bytes = Buffer.allocUnsafeSlow(minimumBytes);
  }

  written(): Buffer {
    return this.bytes.subarray(this.#start, this.length);
  }
}
