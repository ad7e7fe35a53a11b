import { Activity } from '#lib/limits/activity.ts';

export type PlaceLimits = {
  /** Operations of a caller in progress while no other caller is active. */
  aloneMax: number;
  /** The same while others are active. */
  besideOthersMax: number;
  /** The same of an address without a token, while others are active. */
  unauthenticatedMax: number;
  /** Those of a caller that wait for a place. */
  waitingMax: number;
  waitMaxMs: number;
};

type Places = { taken: number; waiting: Set<() => void>; isUnauthenticated: boolean };

/**
 * Limits the operations that each caller has in progress; its others wait, so that services get
 * them one after the other. Callers do not share anything here, so nobody waits for another.
 */
export class CallerPlaces {
  readonly #limits: PlaceLimits;
  readonly #refused: () => Error;
  readonly #byCaller = new Map<string, Places>();
  readonly #activity = new Activity();

  /** `refused` is the error of a call that gets no place in time. */
  constructor(limits: PlaceLimits, refused: () => Error) {
    this.#limits = limits;
    this.#refused = refused;
  }

  /** Resolves with what gives the place back. Throws if there is none in time. */
  async enter(caller: string, signal: AbortSignal, isUnauthenticated = false): Promise<() => void> {
    const places = this.#byCaller.get(caller) ?? {
      taken: 0,
      waiting: new Set(),
      isUnauthenticated,
    };
    this.#byCaller.set(caller, places);
    this.#activity.note(caller);
    if (places.taken < this.#maxOf(caller, places)) places.taken += 1;
    else await this.#wait(places, signal);
    return () => this.#leave(caller, places);
  }

  #maxOf(caller: string, { isUnauthenticated }: Places): number {
    const { aloneMax, besideOthersMax, unauthenticatedMax } = this.#limits;
    if (this.#activity.isAlone(caller)) return aloneMax;
    return isUnauthenticated ? unauthenticatedMax : besideOthersMax;
  }

  async #wait({ waiting }: Places, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (waiting.size >= this.#limits.waitingMax) throw this.#refused();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.add(resolve);
    const giveUp = (reason: unknown) => {
      if (waiting.delete(resolve)) reject(reason);
    };
    const gone = () => giveUp(signal.reason);
    const timer = setTimeout(() => giveUp(this.#refused()), this.#limits.waitMaxMs);
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
