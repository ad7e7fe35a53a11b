import { setTimeout as sleep } from 'node:timers/promises';
import { LruMap } from '#lib/collections/lru-map.ts';

/** Refusals a second of one caller; as many come at once after a pause. */
const perSecond = 50;
const waitMaxMs = 5_000;
const callersMax = 20_000;
/** Refusals that wait at one time; more are answered at once. */
const waitingMax = 4_096;

/**
 * Paces the refusals of each caller: one that repeats its requests at once would otherwise keep the
 * process busy with them. A waiting request must hold nothing that others need.
 */
export class Brake {
  /** When a caller has had all its refusals at the allowed pace, in milliseconds. */
  readonly #paidAtMs = new LruMap<number>({ max: callersMax });
  #waiting = 0;

  async hold(caller: string, signal: AbortSignal): Promise<void> {
    const nowMs = performance.now();
    const paidAtMs = Math.max(nowMs, this.#paidAtMs.get(caller) ?? 0) + 1_000 / perSecond;
    const waitMs = paidAtMs - nowMs - 1_000;
    this.#paidAtMs.set(caller, Math.min(paidAtMs, nowMs + 1_000 + waitMaxMs));
    if (waitMs <= 0 || this.#waiting >= waitingMax) return;
    this.#waiting += 1;
    await sleep(Math.min(waitMs, waitMaxMs), undefined, { signal, ref: false }).catch(
      () => undefined,
    );
    this.#waiting -= 1;
  }
}
