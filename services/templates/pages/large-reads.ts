import { Code } from '@connectrpc/connect';
import { FairQueue } from '#lib/fair-queue.ts';
import { retryLater } from '#lib/rpc/errors.ts';

/** A page of 4 MiB takes some 50 ms of CPU time, in which nothing else runs. */
const atOnceMax = 2;
const waitingMax = 100;
const waitingPerWorkspaceMax = 25;
const retryMs = 1_000;

/**
 * Reads of large pages, a few at a time, and the workspaces that wait in turn: however many of them one workspace asks
 * for, others wait for two at most.
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
    if (isFull) {
      throw retryLater('too many large pages are being read', Code.ResourceExhausted, retryMs);
    }
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
