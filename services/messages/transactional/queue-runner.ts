/*
 * The queue of transactional mail: scheduled, deferred, accepted without room, and what dead
 * processes left.
 *
 * Once a second, and 10 ms after a poke, it looks which workspaces have messages that are due, and
 * takes up to 200 of each; four are read at a time. A workspace that could not send is read again
 * after the wait of its outage, with as many messages as it got rid of last time, doubled.
 *
 * Order of a look: begins behind the workspace at which the last one stopped, so that each has its
 * turn. A taken message is claimed only when there is room for it (`delivery/send-all.ts`).
 *
 * Limits: what has expired or waited for a day fails.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { type BodyPlace, eraseOrphaned } from '../record/orphaned-bodies.ts';
import {
  eraseDone,
  expireQueued,
  findDueWorkspaces,
  type QueuedMessage,
  takeQueued,
  tidyQueue,
} from '../record/queue.ts';
import type { SendNowContext } from './send-now.ts';
import { sendQueued } from './send-queued.ts';

const everyMs = 1_000;
const pokedMs = 10;
const eraseEveryMs = 60_000;
/** Workspaces whose queue is read at a time. */
const readingMax = 4;
const takenMax = 200;
/** The pace of a workspace without queued messages for this long is forgotten. */
const paceKeptMs = 60_000;
const tidiedMax = 1_000;

/** How many messages of a workspace are taken next, and when. */
type Pace = {
  most: number;
  notBeforeMs: number;
  /** The last poke for which the queue was empty. A later one need not wait. */
  seenPoke?: number;
};

/**
 * Sends the transactional messages that wait: scheduled, deferred and accepted ones, and those of
 * dead processes.
 */
export class QueueRunner {
  readonly #context: SendNowContext;
  readonly #paces = new Map<string, Pace>();
  readonly #working = new Map<string, Promise<void>>();
  #reading = 0;
  #isPoked = false;
  #pokes = 0;
  #isRunning = false;
  #erasedAtMs = 0;
  /** The body after which the next look for orphaned ones begins. */
  #bodyAfter: BodyPlace | undefined;
  /**
   * The workspace after which the next look begins, so that each has its turn however many wait.
   */
  #after = '';
  #wake = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(context: SendNowContext) {
    this.#context = context;
  }

  start(): void {
    this.#isRunning = true;
    this.#ended = this.#run();
  }

  /** Messages have come into the queue that could go out now. */
  poke(): void {
    this.#pokes += 1;
    this.#lookSoon();
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#lookSoon();
    await this.#ended;
    await Promise.all(this.#working.values());
  }

  #lookSoon(): void {
    this.#isPoked = true;
    this.#wake.abort();
  }

  async #run(): Promise<void> {
    while (this.#isRunning) {
      this.#isPoked = false;
      try {
        await this.#look();
        await this.#erase();
      } catch (error) {
        await sleep(everyMs);
        this.#context.log.warn({ err: error }, 'the queue of messages could not be read');
      }
      await this.#pause();
    }
  }

  async #pause(): Promise<void> {
    // Pokes within this time share one look.
    await sleep(pokedMs);
    this.#wake = new AbortController();
    if (this.#isPoked) return;
    await sleep(everyMs, undefined, { signal: this.#wake.signal }).catch(() => undefined);
  }

  async #look(): Promise<void> {
    const nowMs = Date.now();
    for (const [workspaceId, { most, notBeforeMs }] of this.#paces) {
      const keptMs = most >= takenMax ? 0 : paceKeptMs;
      if (notBeforeMs + keptMs < nowMs) this.#paces.delete(workspaceId);
    }
    // Workspaces before the one where the last look stopped have their turn in the next one.
    if (this.#after !== '') this.#lookSoon();
    for (;;) {
      const { due, last = '' } = await findDueWorkspaces(this.#context.store, this.#after);
      for (const workspaceId of due) {
        if (!this.#begin(workspaceId, nowMs)) return;
        this.#after = workspaceId;
      }
      this.#after = last;
      if (last === '' || !this.#isRunning) return;
    }
  }

  /** Begins with a workspace, unless it must wait; gives false if no more are read now. */
  #begin(workspaceId: string, nowMs: number): boolean {
    const pace = this.#paces.get(workspaceId);
    if (this.#working.has(workspaceId) || (pace && this.#mustWait(pace, nowMs))) return true;
    if (this.#reading >= readingMax) return false;
    const work = this.#runWorkspace(workspaceId, pace?.most ?? takenMax)
      .catch((error: unknown) => {
        this.#paces.set(workspaceId, { most: takenMax, notBeforeMs: Date.now() + everyMs });
        this.#context.log.warn({ err: error, workspaceId }, 'waiting messages were not sent');
      })
      .finally(() => {
        this.#working.delete(workspaceId);
        this.#lookSoon();
      });
    this.#working.set(workspaceId, work);
    return true;
  }

  #mustWait({ notBeforeMs, seenPoke = this.#pokes }: Pace, nowMs: number): boolean {
    return notBeforeMs > nowMs && seenPoke === this.#pokes;
  }

  async #runWorkspace(workspaceId: string, most: number): Promise<void> {
    const { store } = this.#context;
    const seenPoke = this.#pokes;
    let taken: QueuedMessage[];
    let hasMoreDone: boolean;
    this.#reading += 1;
    try {
      // One portion of each; the rest has its turn in the next look, as the places of readers are
      // few.
      hasMoreDone = await tidyQueue(store, workspaceId, tidiedMax);
      if (await expireQueued(store, workspaceId, tidiedMax)) return;
      taken = await takeQueued(store, workspaceId, most);
    } finally {
      this.#reading -= 1;
    }
    if (taken.length === 0) {
      if (hasMoreDone) return;
      // Its messages are in other hands.
      const notBeforeMs = Date.now() + everyMs;
      this.#paces.set(workspaceId, { most: takenMax, notBeforeMs, seenPoke });
      return;
    }
    const left = await sendQueued(this.#context, workspaceId, taken);
    const begun = taken.length - left.count;
    this.#paces.set(workspaceId, {
      most: Math.min(takenMax, left.count === 0 ? most * 2 : Math.max(1, begun * 2)),
      notBeforeMs: Date.now() + left.afterMs,
    });
  }

  async #erase(): Promise<void> {
    if (Date.now() - this.#erasedAtMs < eraseEveryMs) return;
    this.#erasedAtMs = Date.now();
    while (await eraseDone(this.#context.store));
    this.#bodyAfter = await eraseOrphaned(this.#context.store, { after: this.#bodyAfter });
  }
}
