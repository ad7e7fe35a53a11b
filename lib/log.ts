import { writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { build as prettyStream } from 'pino-pretty';
import { currentTraceId, isTracing } from '#lib/telemetry/tracing.ts';

export type Log = pino.Logger;

/**
 * Errors keep the parts that locate a fault, without those that may hold personal data: parameters,
 * details, rows.
 */
function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: 'not an error' };
  const code = 'code' in error ? error.code : undefined;
  const stack = withoutAddresses(error.stack ?? '');
  return { type: error.name, code, message: withoutAddresses(error.message), stack };
}

/**
 * Replaces e-mail addresses, so that a server's reply can be stored. Reads each character once,
 * since the text is untrusted.
 */
export function withoutAddresses(text: string): string {
  if (!text.includes('@')) return text;
  return text.replaceAll(/[^\s<>"'(),;:]+/g, (word) => {
    const named = word.replaceAll('/node_modules/@', '');
    const at = named.indexOf('@', 1);
    return at > 0 && at < named.length - 1 ? '[address]' : word;
  });
}

function ofTrace(): object {
  const traceId = currentTraceId();
  return traceId === undefined ? {} : { trace_id: traceId };
}

const warning = 40;
const busyWaitMs = 10;
/** How long a line waits for a reader that is slow, and how long no other waits then. */
const busyMaxMs = 1_000;
const impatientMs = 10_000;

/**
 * Writes lines at once. Lines that cannot be written, as on a full disk, are left out, and the next
 * one is preceded by their number: a log must not end its process, nor hold it up for long.
 */
export class LineWriter {
  readonly #fd: number;
  #missing = 0;
  /** The last line that could not be written was begun. */
  #isCut = false;
  /** By `performance.now`. */
  #waitsAgainAtMs = Number.NEGATIVE_INFINITY;

  constructor(fd: number) {
    this.#fd = fd;
  }

  write(line: string): void {
    try {
      if (this.#missing > 0) this.#writeAll(this.#note());
      this.#missing = 0;
      this.#isCut = false;
      this.#writeAll(line);
    } catch {
      this.#missing += 1;
    }
  }

  #note(): string {
    const msg = `${this.#missing} lines of this log could not be written`;
    const line = JSON.stringify({ level: warning, time: Date.now(), msg });
    return `${this.#isCut ? '\n' : ''}${line}\n`;
  }

  #writeAll(line: string): void {
    let rest = Buffer.from(line);
    const sinceMs = performance.now();
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(this.#fd, rest));
      } catch (error) {
        const isBusy = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
        const nowMs = performance.now();
        if (isBusy && nowMs < sinceMs + busyMaxMs && nowMs >= this.#waitsAgainAtMs) {
          pause();
          continue;
        }
        if (isBusy) this.#waitsAgainAtMs = Math.max(this.#waitsAgainAtMs, sinceMs + impatientMs);
        this.#isCut ||= rest.length < Buffer.byteLength(line);
        throw error;
      }
    }
  }
}

/** Of the whole thread: nothing is logged meanwhile. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyWaitMs);
}

/** One JSON object a line, or text for people. */
export type LogFormat = 'json' | 'pretty';

/** Structured logs on standard output. */
export function createLog(name: string, level = 'info', format: LogFormat = 'json'): Log {
  const options = {
    name,
    level,
    base: { name, pid: process.pid },
    serializers: { err: serializeError },
    ...(isTracing() && { mixin: ofTrace }),
    redact: ['authorization', 'password', 'token', 'secret', '*.password', '*.token', '*.secret'],
  };
  const output = new LineWriter(process.stdout.fd);
  if (format === 'json') return pino(options, output);
  const destination = new Writable({
    decodeStrings: false,
    write: (line: string, _, done) => {
      output.write(line);
      done();
    },
  });
  return pino(
    options,
    prettyStream({ colorize: process.stdout.isTTY, ignore: 'pid', destination }),
  );
}
