import { setTimeout as sleep } from 'node:timers/promises';
import { Code } from '@connectrpc/connect';
import { FairQueue } from '#lib/fair-queue.ts';
import { retryLater } from '#lib/rpc/errors.ts';

/** A page of 4 MiB takes some 50 ms of CPU time, in which nothing else runs. */
const atOnceMax = 2;
const waitingMax = 100;
const waitingPerWorkspaceMax = 25;
const retryMs = 1_000;
/** Below this a page costs no more than other calls. */
const pacedFromBytes = 256 * 1024;
/** Of a workspace: 12.5 MiB a second. */
const paceMsPerMiB = 80;
const paceMsMax = 4_000;
const pacedWorkspacesMax = 1_000;
const mebibyte = 1024 * 1024;

/**
 * Reads of large pages, a few at a time, and the workspaces that wait in turn: however many of them one workspace asks
 * for, others wait for two at most. A workspace reads so many bytes a second: what it takes to pass them on is time of all processes.
 */
export class LargeReads {
  /** When a workspace may read its next large page, in milliseconds of this process. */
  readonly #nextAtMs = new Map<string, number>();
  #open = 0;
  #waiting = 0;
  readonly #queue = new FairQueue<() => void>();

  async run<Result>(
    workspaceId: string,
    bytes: number,
    read: () => Promise<Result>,
  ): Promise<Result> {
    if (bytes >= pacedFromBytes) await this.#pace(workspaceId, bytes);
    if (this.#open >= atOnceMax) await this.#turn(workspaceId);
    else this.#open += 1;
    try {
      return await read();
    } finally {
      this.#next();
    }
  }

  async #pace(workspaceId: string, bytes: number): Promise<void> {
    const now = performance.now();
    if (this.#nextAtMs.size >= pacedWorkspacesMax) {
      for (const [id, atMs] of this.#nextAtMs) if (atMs <= now) this.#nextAtMs.delete(id);
    }
    const atMs = Math.max(now, this.#nextAtMs.get(workspaceId) ?? 0);
    if (atMs - now > paceMsMax) throw tooMany();
    this.#nextAtMs.set(workspaceId, atMs + (bytes / mebibyte) * paceMsPerMiB);
    if (atMs > now) await sleep(atMs - now);
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
