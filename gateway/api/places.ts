import { tooManyAtOnce } from './errors.ts';

export type PlaceLimits = {
  /** Operations of one caller in progress. */
  perCallerMax: number;
  /** Those of one caller that wait for a place. */
  waitingPerCallerMax: number;
  waitMaxMs: number;
};

/** More at once than a sender needs that keeps to its limit of requests. */
export const placesDefault: PlaceLimits = {
  perCallerMax: 64,
  waitingPerCallerMax: 512,
  waitMaxMs: 10_000,
};

type Places = { taken: number; waiting: Set<() => void> };

/** Each caller has so many operations in progress; its others wait, so that services hear of them one after the other. */
export class CallerPlaces {
  readonly #limits: PlaceLimits;
  readonly #byCaller = new Map<string, Places>();

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /** Resolves with what gives the place back. Throws a 429 if there is none in time. */
  async enter(caller: string, signal: AbortSignal): Promise<() => void> {
    const places = this.#byCaller.get(caller) ?? { taken: 0, waiting: new Set() };
    this.#byCaller.set(caller, places);
    if (places.taken < this.#limits.perCallerMax) places.taken += 1;
    else await this.#wait(places, signal);
    return () => this.#leave(caller, places);
  }

  /** The place of one that leaves is passed on to the first that waits. */
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
    const [next] = places.waiting;
    if (next) {
      places.waiting.delete(next);
      next();
      return;
    }
    places.taken -= 1;
    if (places.taken === 0) this.#byCaller.delete(caller);
  }
}
