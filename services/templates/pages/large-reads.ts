import { Code } from '@connectrpc/connect';
import { FairQueue } from '#lib/collections/fair-queue.ts';
import { retryLater } from '#lib/errors/errors.ts';

/** A page of 4 MiB takes some 50 ms of CPU time, in which nothing else runs. */
const atOnceMax = 2;
const waitingMax = 100;
const waitingPerWorkspaceMax = 25;
const retryMs = 1_000;
/** Below this a page costs no more than other calls. */
const pacedFromBytes = 256 * 1024;
/** Of a workspace: 12.5 MiB a second. */
const paceMsPerMiB = 80;
const mebibyte = 1024 * 1024;

/**
 * How long a workspace rests after a page: what it takes to pass one on is time of all processes.
 */
export function restMsOf(bytes: number): number {
  return bytes < pacedFromBytes ? 0 : (bytes / mebibyte) * paceMsPerMiB;
}

/**
 * Reads of large pages, a few at a time, and the workspaces that wait in turn: however many of them
 * one workspace asks for, others wait for two at most.
 */
export class LargeReads {
  #open = 0;
  #waiting = 0;
  readonly #queue = new FairQueue<() => void>();

  async run<Result>(workspaceId: string, read: () => Promise<Result>): Promise<Result> {
    if (this.#open >= atOnceMax) await this.#turn(workspaceId);
    else this.#open += 1;
    try {
      return await read();
    } finally {
      this.#next();
    }
  }

  #turn(workspaceId: string): Promise<void> {
    const isFull =
      this.#waiting >= waitingMax || this.#queue.sizeOf(workspaceId) >= waitingPerWorkspaceMax;
    if (isFull) throw tooMany();
    this.#waiting += 1;
    return new Promise((resolve) => this.#queue.add(workspaceId, resolve));
  }

  /** Hands the place on. */
  #next(): void {
    const next = this.#queue.take();
    if (!next) {
      this.#open -= 1;
      return;
    }
    this.#waiting -= 1;
    next.item();
  }
}

function tooMany(): unknown {
  return retryLater('too many large pages are being read', Code.ResourceExhausted, retryMs);
}
