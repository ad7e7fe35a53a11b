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

/** The header `Retry-After`, in seconds or as a date; zero if it says nothing that can be read. */
export function retryAfterMsOf(value: unknown, now: Date): number {
  const text = typeof value === 'string' ? value.trim() : '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  // Dates have a day's name; Date.parse would take much else.
  const ms = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) - now.getTime() : 0;
  return Number.isFinite(ms) ? Math.max(ms, 0) : 0;
}
