import { setTimeout as sleep } from 'node:timers/promises';

const delayMs = 250;
/** Refusals that wait at one time; more are answered at once. */
const delayedMax = 512;

/**
 * Delays the answers to callers beyond their limits: one that repeats its requests at once would otherwise keep the process
 * busy with refusals.
 */
export class Brake {
  #delayed = 0;

  async hold(signal: AbortSignal): Promise<void> {
    if (this.#delayed >= delayedMax) return;
    this.#delayed += 1;
    await sleep(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
    this.#delayed -= 1;
  }
}
