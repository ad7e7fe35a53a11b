const keptBytes = 1_024;
const readMaxBytes = 64 * 1_024;

/**
 * The body of an answer: its beginning is kept, and enough of it read for the connection to be used
 * again.
 */
export class AnswerBody {
  #kept: Buffer[] = [];
  #sizeBytes = 0;

  /** False once the rest is not worth reading. */
  add(chunk: Buffer): boolean {
    // A copy: a slice would hold all of a large chunk.
    if (this.#sizeBytes < keptBytes) {
      this.#kept.push(Buffer.from(chunk.subarray(0, keptBytes - this.#sizeBytes)));
    }
    this.#sizeBytes += chunk.length;
    return this.#sizeBytes <= readMaxBytes;
  }

  /** As PostgreSQL can store it: valid UTF-8 without NUL, and without a character that was cut. */
  get text(): string {
    if (this.#sizeBytes === 0) return '';
    const isCut = this.#sizeBytes > keptBytes;
    const text = new TextDecoder().decode(Buffer.concat(this.#kept), { stream: isCut });
    return text.replaceAll('\0', '\uFFFD');
  }
}
