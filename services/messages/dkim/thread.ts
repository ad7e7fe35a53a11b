import { Worker } from 'node:worker_threads';
import { signingSeconds } from './metrics.ts';
import type { SigningDomain } from './signature.ts';
import type { SignedPart, SigningAnswer, SigningRequest } from './worker.ts';

/** A mail to sign. */
export type SigningJob = {
  /** As it is sent. It stays the same until it is signed. */
  mail: Buffer;
  /** Asked right before the mail goes to a thread; `old` where it is to be read again first. */
  domain: () => SigningDomain | undefined | 'old';
  /** Reads the domain again. */
  read: () => Promise<unknown>;
  /** Gets the fields to put before the mail; undefined where it cannot be signed. */
  done: (fields: string | undefined) => void;
};

/** The time when it began to wait, the threads that ended with it, and the reads of its domain. */
export type SigningTry = SigningJob & { sinceMs: number; ends: number; reads: number };
type Batch = { jobs: readonly SigningTry[] };

const script = new URL('./worker.ts', import.meta.url);
const memoryMb = 64;
/** Of a buffer that is used again. A larger mail goes alone in one of its own. */
export const bufferBytes = 256 * 1024;

type Host = {
  /** A batch came back, and the next may go. */
  answered: () => void;
  /** The keys of this mail are old, and it is in no thread. */
  isOld: (job: SigningTry) => void;
  /** The thread has ended, with these mails. */
  ended: (jobs: readonly SigningTry[]) => void;
};

/** One thread, and what it has to do. */
export class SigningThread {
  readonly #worker = new Worker(script, { resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
  readonly #host: Host;
  #batches: Batch[] = [];
  readonly #known = new Map<SigningDomain, number>();
  #learned = 0;
  /** Of batches that came back. */
  #buffers: ArrayBuffer[] = [];
  hasSigned = false;

  constructor(host: Host) {
    this.#host = host;
    this.#worker.unref();
    // An unhandled error would end the process.
    this.#worker.on('error', () => undefined);
    this.#worker.on('message', (answer: SigningAnswer) => this.#onAnswer(answer));
    this.#worker.once('exit', () => {
      const jobs = this.#batches.flatMap((batch) => batch.jobs);
      this.#batches = [];
      host.ended(jobs);
    });
  }

  get batches(): number {
    return this.#batches.length;
  }

  /** Whether it has a mail that another thread ended with, which it must have alone. */
  get isSuspect(): boolean {
    return this.#batches.some(({ jobs }) => jobs.some(({ ends }) => ends > 0));
  }

  /** Mails of domains without keys are answered at once; those whose keys are old go back. */
  sign(given: readonly SigningTry[]): void {
    const jobs: SigningTry[] = [];
    const parts: SignedPart[] = [];
    let length = 0;
    for (const job of given) {
      const domain = job.domain();
      if (domain === 'old') {
        this.#host.isOld(job);
        continue;
      }
      if (!domain) {
        job.done(undefined);
        continue;
      }
      const end = length + job.mail.length;
      parts.push({ start: length, end, domain: this.#numberOf(domain) });
      jobs.push(job);
      length = end;
    }
    if (jobs.length === 0) return;
    const bytes = this.#bufferOf(length);
    const mails = Buffer.from(bytes);
    for (const [index, { mail }] of jobs.entries()) mail.copy(mails, parts[index]?.start);
    this.#batches.push({ jobs });
    this.#ask({ sign: parts, bytes }, [bytes]);
  }

  forget(domain: SigningDomain): void {
    const number = this.#known.get(domain);
    if (number === undefined) return;
    this.#known.delete(domain);
    this.#ask({ forget: number });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #ask(request: SigningRequest, transferred: ArrayBuffer[] = []): void {
    this.#worker.postMessage(request, transferred);
  }

  #numberOf(domain: SigningDomain): number {
    const known = this.#known.get(domain);
    if (known !== undefined) return known;
    this.#learned += 1;
    this.#known.set(domain, this.#learned);
    this.#ask({ learn: this.#learned, domain });
    return this.#learned;
  }

  #bufferOf(length: number): ArrayBuffer {
    if (length > bufferBytes) return new ArrayBuffer(length);
    return this.#buffers.pop() ?? new ArrayBuffer(bufferBytes);
  }

  #onAnswer({ signatures, bytes }: SigningAnswer): void {
    const batch = this.#batches.shift();
    this.hasSigned = true;
    if (bytes.byteLength === bufferBytes) this.#buffers.push(bytes);
    // The next batch first: what follows an answer takes its time.
    this.#host.answered();
    const nowMs = performance.now();
    for (const [index, job] of (batch?.jobs ?? []).entries()) {
      signingSeconds.observe((nowMs - job.sinceMs) / 1_000);
      job.done(signatures[index] ?? undefined);
    }
  }
}
