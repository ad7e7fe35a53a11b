/*
 * Threads that sign mails, so that the event loop of a sender pays for no cryptography.
 *
 * Order: a mail waits until the turn of the event loop ends, goes with others in one buffer, which
 * is transferred and not copied again, and comes back with its signatures. One copy out of the
 * connection's own memory is cheaper than writing a mail into memory that is shared.
 *
 * Invariants: a mail is answered once. The mails of a thread that ended go to the next one, first
 * and each alone; one with which three have ended is answered without signatures, and its sender
 * defers it. A mail whose keys are old by the time that it may go to a thread waits until they are
 * read again, and goes before the others; after five times it is answered without signatures. A
 * thread holds only the keys of domains that are in use.
 *
 * Limits: two buffers at a thread, one at work and one that waits; then mails wait in the
 * connections that they are to go out by, which bounds how many do.
 */

import type { SigningDomain } from './signature.ts';
import { bufferBytes, type SigningJob, SigningThread, type SigningTry } from './thread.ts';

const batchesMax = 2;
/** A signature by RSA takes 0.3 ms; more in a buffer would keep the first ones waiting. */
const batchMailsMax = 8;
const endsMax = 3;
/** Keys may be old again while a mail waits, since settings change or a thread is slow. */
const readsMax = 5;
/** After the end of a thread that had signed nothing, or that could not be started. */
const restartMs = 1_000;

export class SigningThreads {
  readonly #size: number;
  readonly #threads = new Set<SigningThread>();
  #waiting: SigningTry[] = [];
  #isPosting = false;
  #isClosed = false;
  #pausedUntilMs = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Mails that are in no thread yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  sign(job: SigningJob): void {
    if (this.#isClosed) {
      job.done(undefined);
      return;
    }
    this.#waiting.push({ ...job, sinceMs: performance.now(), ends: 0, reads: 0 });
    this.#postSoon();
  }

  /** The keys of a domain are not used any more. */
  forget(domain: SigningDomain): void {
    for (const thread of this.#threads) thread.forget(domain);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads].map((thread) => thread.close()));
    for (const { done } of this.#waiting.splice(0)) done(undefined);
  }

  /** Mails of one turn of the event loop go together. */
  #postSoon(): void {
    if (this.#isPosting) return;
    this.#isPosting = true;
    setImmediate(() => {
      this.#isPosting = false;
      this.#post();
    });
  }

  #post(): void {
    for (let [first] = this.#waiting; first; [first] = this.#waiting) {
      const thread = this.#freest();
      // A second batch that is not full would only cost more messages.
      const isFull = this.#waiting.length >= batchMailsMax && first.ends === 0;
      if (!thread || (thread.batches > 0 && (thread.isSuspect || !isFull))) return;
      const count = batchOf(this.#waiting);
      thread.sign(this.#waiting.slice(0, count));
      this.#waiting = this.#waiting.slice(count);
    }
  }

  /** The thread with the least to do; undefined while none has room. */
  #freest(): SigningThread | undefined {
    let freest: SigningThread | undefined;
    for (const thread of this.#threads)
      if (thread.batches < (freest?.batches ?? batchesMax)) freest = thread;
    if (freest?.batches === 0 || this.#threads.size >= this.#size || this.#isClosed) return freest;
    return this.#started() ?? freest;
  }

  #started(): SigningThread | undefined {
    if (Date.now() < this.#pausedUntilMs) return undefined;
    try {
      const thread: SigningThread = new SigningThread({
        answered: () => this.#post(),
        isOld: (job) => this.#readAgain(job),
        ended: (jobs) => this.#onEnd(thread, jobs),
      });
      this.#threads.add(thread);
      return thread;
    } catch {
      // The system has no room for a thread.
      this.#pause();
      return undefined;
    }
  }

  #pause(): void {
    this.#pausedUntilMs = Date.now() + restartMs;
    // A timer may run a millisecond early by the clock that `#started` reads.
    setTimeout(() => this.#post(), restartMs + 2).unref();
  }

  #readAgain(job: SigningTry): void {
    job.reads += 1;
    if (job.reads > readsMax) {
      job.done(undefined);
      return;
    }
    job.read().then(
      () => {
        if (this.#isClosed) job.done(undefined);
        else {
          this.#waiting.unshift(job);
          this.#postSoon();
        }
      },
      () => job.done(undefined),
    );
  }

  #onEnd(thread: SigningThread, jobs: readonly SigningTry[]): void {
    this.#threads.delete(thread);
    if (!thread.hasSigned && !this.#isClosed) this.#pause();
    for (const job of jobs) job.ends += 1;
    const isLost = ({ ends }: SigningTry) => ends >= endsMax || this.#isClosed;
    this.#waiting = [...jobs.filter((job) => !isLost(job)), ...this.#waiting];
    for (const job of jobs.filter(isLost)) job.done(undefined);
    this.#post();
  }
}

/** How many of the mails that wait go together. One that a thread ended with goes alone. */
function batchOf(waiting: readonly SigningTry[]): number {
  let bytes = 0;
  for (const [index, { mail, ends }] of waiting.entries()) {
    bytes += mail.length;
    const isFull = index >= batchMailsMax || bytes > bufferBytes || ends > 0;
    if (isFull && index > 0) return index;
    if (ends > 0) return 1;
  }
  return waiting.length;
}
