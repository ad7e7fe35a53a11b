import { Activity } from '#lib/limits/activity.ts';
import { tooManyAtOnce } from '../http/refusal.ts';

export type PlaceLimits = {
  /** Operations of one caller in progress. */
  perCallerMax: number;
  /** The same while other callers are active. */
  besideOthersMax: number;
  /** The same of an address without a token, whose calls are small and few unless it attacks. */
  strangerMax: number;
  /** Those of one caller that wait for a place. */
  waitingPerCallerMax: number;
  waitMaxMs: number;
};

/**
 * As many as a sender needs that keeps to its limit of requests: 500 a second, of 16 ms each, while
 * others are active. More would not be answered sooner, and those of everybody else would wait
 * behind them.
 */
export const placesDefault: PlaceLimits = {
  perCallerMax: 64,
  besideOthersMax: 8,
  strangerMax: 4,
  waitingPerCallerMax: 512,
  waitMaxMs: 10_000,
};

type Places = { taken: number; waiting: Set<() => void>; isStranger: boolean };

/**
 * Each caller has so many operations in progress; its others wait, so that services hear of them
 * one after the other.
 */
export class CallerPlaces {
  readonly #limits: PlaceLimits;
  readonly #byCaller = new Map<string, Places>();
  readonly #activity = new Activity();

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /** Resolves with what gives the place back. Throws a 429 if there is none in time. */
  async enter(caller: string, signal: AbortSignal, isStranger = false): Promise<() => void> {
    const places = this.#byCaller.get(caller) ?? { taken: 0, waiting: new Set(), isStranger };
    this.#byCaller.set(caller, places);
    this.#activity.note(caller);
    if (places.taken < this.#maxOf(caller, places)) places.taken += 1;
    else await this.#wait(places, signal);
    return () => this.#leave(caller, places);
  }

  #maxOf(caller: string, { isStranger }: Places): number {
    const { perCallerMax, besideOthersMax, strangerMax } = this.#limits;
    if (this.#activity.isAlone(caller)) return perCallerMax;
    return isStranger ? strangerMax : besideOthersMax;
  }

  async #wait({ waiting }: Places, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (waiting.size >= this.#limits.waitingPerCallerMax) throw tooManyAtOnce();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.add(resolve);
    const giveUp = (reason: unknown) => {
      if (waiting.delete(resolve)) reject(reason);
    };
    const gone = () => giveUp(signal.reason);
    const timer = setTimeout(() => giveUp(tooManyAtOnce()), this.#limits.waitMaxMs);
    signal.addEventListener('abort', gone, { once: true });
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', gone);
    }
  }

  #leave(caller: string, places: Places): void {
    places.taken -= 1;
    for (const next of places.waiting) {
      if (places.taken >= this.#maxOf(caller, places)) break;
      places.taken += 1;
      places.waiting.delete(next);
      next();
    }
    if (places.taken === 0) this.#byCaller.delete(caller);
  }
}
