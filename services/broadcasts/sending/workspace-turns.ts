import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { FairQueue } from '#lib/collections/fair-queue.ts';

export type TurnLimits = {
  /** Activities of one workspace at a time. */
  workspaceMax: number;
  /**
   * Activities of one workspace that wait here; more leave their slot of the worker and come again.
   */
  waitingMax: number;
  /** Shorter than the heartbeats that the server waits for. */
  waitMaxMs: number;
  /** While others wait, a place rests as long as it was used, at most this long. */
  restMaxMs: number;
};

/** An activity that found no place comes again after this time at least, and at most. */
const againMinMs = 1_000;
const againMaxMs = 15_000;
/** So that those that were refused together do not come together. */
const againSpread = 3;

/** The places of a workspace that are taken, and how long the last one was. */
type Places = { count: number; lastMs: number };

/** A place for work of a workspace. */
export type WorkspaceTurn = { othersWait(): boolean };

/**
 * How many activities of one workspace go on at once in this process: broadcasts that begin
 * together take turns, first come, first served, and leave the services that they call to other
 * workspaces.
 */
export class WorkspaceTurns {
  readonly #limits: TurnLimits;
  readonly #held = new Map<string, Places>();
  readonly #queue = new FairQueue<() => void>();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Throws what has Temporal repeat the activity in a moment where there is no place in time. */
  async take<Result>(
    workspaceId: string,
    work: (turn: WorkspaceTurn) => Promise<Result>,
  ): Promise<Result> {
    if (!this.#enter(workspaceId)) await this.#wait(workspaceId);
    const othersWait = () => this.#queue.sizeOf(workspaceId) > 0;
    const beganAtMs = performance.now();
    try {
      return await work({ othersWait });
    } finally {
      const usedMs = performance.now() - beganAtMs;
      const restMs = othersWait() ? Math.min(usedMs, this.#limits.restMaxMs) : 0;
      const leave = () => this.#leave(workspaceId, usedMs + restMs);
      if (restMs > 0) setTimeout(leave, restMs);
      else leave();
    }
  }

  #enter(workspaceId: string): boolean {
    const places = this.#held.get(workspaceId) ?? { count: 0, lastMs: 0 };
    if (places.count >= this.#limits.workspaceMax) return false;
    this.#held.set(workspaceId, places);
    places.count += 1;
    return true;
  }

  #leave(workspaceId: string, takenMs: number): void {
    const places = this.#held.get(workspaceId);
    if (places) places.lastMs = takenMs;
    // The place is handed on, so that nobody who comes now is before those that wait.
    const next = this.#queue.take((tenant) => tenant === workspaceId);
    if (next) {
      next.item();
      return;
    }
    if (!places) return;
    places.count -= 1;
    if (places.count === 0) this.#held.delete(workspaceId);
  }

  async #wait(workspaceId: string): Promise<void> {
    const { waitingMax, waitMaxMs } = this.#limits;
    if (this.#queue.sizeOf(workspaceId) >= waitingMax) throw this.#later(workspaceId);
    const entered = Promise.withResolvers<true>();
    const enter = () => entered.resolve(true);
    this.#queue.add(workspaceId, enter);
    const over = new AbortController();
    const isIn = await Promise.race([
      entered.promise,
      sleep(waitMaxMs, false, { signal: over.signal }).catch(() => false),
    ]);
    over.abort();
    // A place that came in the same moment is taken.
    if (!isIn && this.#queue.remove(workspaceId, enter)) throw this.#later(workspaceId);
  }

  /** Has the activity come again when those that wait now have had their turn. */
  #later(workspaceId: string): ApplicationFailure {
    const { lastMs = 0 } = this.#held.get(workspaceId) ?? {};
    const turns = this.#queue.sizeOf(workspaceId) / this.#limits.workspaceMax;
    const leastMs = Math.max(againMinMs, turns * lastMs);
    return later(Math.min(leastMs, againMaxMs / againSpread));
  }
}

/** The turns of each kind of activity in this process. */
export type Turns = Record<'freezes' | 'feeds' | 'slices', WorkspaceTurns>;

const waits = { waitingMax: 16, waitMaxMs: 5_000 };
/** A page at a time takes contacts, the worker and PostgreSQL; the rest is for other workspaces. */
const freezing = { workspaceMax: 1, restMaxMs: 1_000 };
/** First pages of broadcasts that ask a feed, which may take seconds to answer. */
const feeding = { workspaceMax: 2, restMaxMs: 0 };
/** Three broadcasts, with three calls open for each slice. */
const sending = { workspaceMax: 6, restMaxMs: 0 };

export function createTurns(): Turns {
  return {
    freezes: new WorkspaceTurns({ ...waits, ...freezing }),
    feeds: new WorkspaceTurns({ ...waits, ...feeding }),
    slices: new WorkspaceTurns({ ...waits, ...sending }),
  };
}

function later(leastMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    message: 'waits for its turn: other broadcasts of the workspace are at work',
    type: 'NotYet',
    // Nothing is wrong, so it is neither logged nor counted as a failure.
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: leastMs * (1 + Math.random() * (againSpread - 1)),
  });
}
