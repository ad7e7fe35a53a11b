import { Code } from '@connectrpc/connect';
import { retryLater } from '#lib/rpc/errors.ts';

/** A page of 4 MiB takes some 50 ms of CPU time, in which nothing else runs. */
const atOnceMax = 2;
const waitingMax = 100;
const retryMs = 1_000;

type Waiting = () => void;

/**
 * Reads of large pages, a few at a time, and the workspaces that wait in turn: however many of them one workspace asks
 * for, others wait for two at most.
 */
export class LargeReads {
  #open = 0;
  #waiting = 0;
  /** By workspace, in the order of their turns. */
  readonly #queues = new Map<string, Waiting[]>();

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
    if (this.#waiting >= waitingMax) {
      throw retryLater('too many large pages are being read', Code.ResourceExhausted, retryMs);
    }
    this.#waiting += 1;
    return new Promise((resolve) => {
      const queue = this.#queues.get(workspaceId);
      if (queue) queue.push(resolve);
      else this.#queues.set(workspaceId, [resolve]);
    });
  }

  /** Hands the place on. The workspace that gets it goes to the end of the row. */
  #next(): void {
    const [first] = this.#queues;
    if (!first) {
      this.#open -= 1;
      return;
    }
    const [workspaceId, queue] = first;
    const resolve = queue.shift();
    this.#queues.delete(workspaceId);
    if (queue.length > 0) this.#queues.set(workspaceId, queue);
    this.#waiting -= 1;
    resolve?.();
  }
}
