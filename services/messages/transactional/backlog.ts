import { LRUCache } from 'lru-cache';
import type { Log } from '#lib/log.ts';
import type { Store } from '#lib/postgres/store.ts';
import { isQueueFull } from '../record/queue.ts';

/** A look counts up to a million entries of an index. */
const lookEveryMs = 10_000;
const workspacesMax = 10_000;

type Look = { atMs: number; isFull: boolean };

/** Which workspaces have so many messages in the queue that no more are accepted. */
export class Backlog {
  readonly #context: { store: Store; log: Log };
  readonly #looks = new LRUCache<string, Look>({ max: workspacesMax });

  constructor(context: { store: Store; log: Log }) {
    this.#context = context;
  }

  isFull(workspaceId: string): boolean {
    const look = this.#looks.get(workspaceId);
    if (!look?.isFull) return false;
    this.grew(workspaceId);
    return true;
  }

  /** Messages were queued. */
  grew(workspaceId: string): void {
    const look = this.#looks.get(workspaceId) ?? { atMs: 0, isFull: false };
    if (Date.now() - look.atMs < lookEveryMs) return;
    look.atMs = Date.now();
    this.#looks.set(workspaceId, look);
    isQueueFull(this.#context.store, workspaceId).then(
      (isFull) => {
        look.isFull = isFull;
      },
      (error: unknown) =>
        this.#context.log.warn({ err: error, workspaceId }, 'waiting messages were not counted'),
    );
  }
}
