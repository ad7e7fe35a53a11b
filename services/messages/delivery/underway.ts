import { setTimeout as sleep } from 'node:timers/promises';
import { PassingMap } from '#lib/collections/passing-map.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { IntegrationLane } from '../admission/lane.ts';
import { leaseMs, renewLeases } from '../record/claims.ts';
import type { Journal } from '../record/journal.ts';

/**
 * A message that this process has claimed; nothing of it is written after `leaseUntilMs` of the
 * local clock.
 */
export type Held = { lane: IntegrationLane; isUrgent: boolean; leaseUntilMs: number };

/**
 * Clocks are compared as durations only; this covers what a process does between its look and its
 * write.
 */
const leaseMarginMs = 2_000;
/** Most of a lease is left whenever the database goes away. */
const renewAfterMs = 5_000;
const renewTickMs = 1_000;
/** Bounds a statement. */
const renewMax = 1_000;
const lookEveryMs = 50;
/** As many as a broadcast or a burst of calls has; a single call now and then has fewer. */
const muchMin = 50;
/** A broadcast has none between two slices, for a moment. */
const muchForMs = 1_000;

type UnderwayContext = {
  outcomes: Store;
  owner: string;
  journal: Pick<Journal, 'claim' | 'forget'> | undefined;
};

/**
 * The messages that this process has claimed and not yet recorded. They belong to the process and
 * not to the call that began them: a call may end while a server still has a body to answer, or the
 * database an outcome to take.
 */
export class Underway {
  readonly #held = new PassingMap<string, Held>();
  readonly #outcomes: Store;
  readonly #owner: string;
  readonly #journal: UnderwayContext['journal'];
  #ticker: NodeJS.Timeout | undefined;
  #isRenewing = false;
  #hadMuchAtMs = Number.NEGATIVE_INFINITY;

  constructor({ outcomes, owner, journal }: UnderwayContext) {
    this.#outcomes = outcomes;
    this.#owner = owner;
    this.#journal = journal;
  }

  /**
   * Holds those of the messages that nothing here holds yet, and returns them; they take room of
   * the lane.
   */
  hold<Message extends { id: string }>(
    { lane, isUrgent }: Pick<Held, 'lane' | 'isUrgent'>,
    messages: readonly Message[],
  ): Message[] {
    const free = messages.filter(({ id }) => !this.#held.has(id));
    const leaseUntilMs = leaseFrom(Date.now());
    for (const { id } of free) this.#held.set(id, { lane, isUrgent, leaseUntilMs });
    if (this.#held.size >= muchMin) this.#hadMuchAtMs = performance.now();
    lane.take(free.length, isUrgent);
    this.#journal?.claim(
      lane.workspaceId,
      free.map(({ id }) => id),
    );
    this.#ticker ??= setInterval(() => this.#tick(), renewTickMs).unref();
    return free;
  }

  get(id: string): Held | undefined {
    return this.#held.get(id);
  }

  /** Whether this process sends much, or did a moment ago. */
  isSendingMuch(): boolean {
    const nowMs = performance.now();
    return this.#held.size >= muchMin || nowMs - this.#hadMuchAtMs < muchForMs;
  }

  /** They are in the record, or were never claimed. */
  release(ids: Iterable<string>): void {
    for (const id of ids) {
      const held = this.#held.get(id);
      if (!held) continue;
      this.#held.delete(id);
      this.#journal?.forget(id);
      held.lane.release(1, held.isUrgent);
    }
  }

  /** Resolves once nothing is held, or after `maxMs`. */
  async drained(maxMs: number): Promise<void> {
    const untilMs = Date.now() + maxMs;
    while (this.#held.size > 0 && Date.now() < untilMs) await sleep(lookEveryMs);
  }

  /** Keeps what is not in the record yet in our hands. */
  #tick(): void {
    if (this.#held.size === 0) {
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    } else if (!this.#isRenewing) {
      this.#isRenewing = true;
      this.#renew()
        // The next tick tries again; a lease that ends all the same lets nothing more be started.
        .catch(() => undefined)
        .finally(() => {
          this.#isRenewing = false;
        });
    }
  }

  async #renew(): Promise<void> {
    const fromMs = Date.now();
    const byWorkspace = new Map<string, string[]>();
    for (const [id, { lane, leaseUntilMs }] of this.#held) {
      if (leaseUntilMs > leaseFrom(fromMs - renewAfterMs)) continue;
      const ids = byWorkspace.get(lane.workspaceId) ?? [];
      byWorkspace.set(lane.workspaceId, ids);
      ids.push(id);
    }
    for (const [workspaceId, ids] of byWorkspace) {
      for (let first = 0; first < ids.length; first += renewMax) {
        await this.#renewSome(workspaceId, ids.slice(first, first + renewMax));
      }
    }
  }

  async #renewSome(workspaceId: string, ids: readonly string[]): Promise<void> {
    const fromMs = Date.now();
    const ours = await renewLeases(this.#outcomes, this.#owner, workspaceId, ids);
    for (const id of ours) {
      const held = this.#held.get(id);
      if (held) held.leaseUntilMs = leaseFrom(fromMs);
    }
  }
}

function leaseFrom(claimedAtMs: number): number {
  return claimedAtMs + leaseMs - leaseMarginMs;
}
