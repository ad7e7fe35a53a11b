import { Code } from '@connectrpc/connect';
import { FairQueue } from '#lib/fair-queue.ts';
import { retryLater } from '../rpc/errors.ts';

/** A tenant, and whether its work is heavy: an expensive read, or a large write. */
export type Passenger = { workspaceId: string; isHeavy: boolean };

export type LaneLimits = {
  /** Places of all tenants. */
  places: number;
  /** How many of them heavy work may have. */
  heavyPlaces: number;
  /** Work of one tenant that may wait. */
  tenantWaitingMax: number;
  waitMaxMs: number;
};

/** Left to newcomers where nobody waits. */
const freeMin = 2;
const waitingMax = 2_000;
const retryMs = 1_000;

/** The places of a pool: a fifth of its connections stays free for work that belongs to no tenant. */
export function lanesOfPool(connections: number): LaneLimits {
  const places = Math.max(1, connections - Math.ceil(connections / 5));
  const heavyPlaces = Math.max(1, Math.floor((connections * 3) / 10));
  return { places, heavyPlaces, tenantWaitingMax: 64, waitMaxMs: 4_000 };
}

type Held = { all: number; heavy: number };
type Lane = 'heavy' | 'light';

/**
 * Shares places among tenants, who take turns. A tenant has at most half of them, at least two, while others wait; alone
 * it has all but two. Heavy work has few places, and one tenant has all but one of those. Waits are bounded: the
 * tenant that fills its share is told to slow down.
 */
export class Lanes {
  readonly #limits: LaneLimits;
  readonly #queues: Record<Lane, FairQueue<() => void>> = {
    heavy: new FairQueue(),
    light: new FairQueue(),
  };
  readonly #held = new Map<string, Held>();
  readonly #total: Held = { all: 0, heavy: 0 };
  #waiting = 0;

  constructor(limits: LaneLimits) {
    this.#limits = limits;
  }

  /** Resolves with what gives the place back. ResourceExhausted if the tenant has its share, else Unavailable. */
  async enter(passenger: Passenger, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#mayEnter(passenger) && this.#waiting === 0) this.#change(passenger, 1);
    else await this.#wait(passenger, signal);
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#change(passenger, -1);
      this.#admit();
    };
  }

  async #wait(passenger: Passenger, signal: AbortSignal): Promise<void> {
    const { workspaceId } = passenger;
    const queue = this.#queues[laneOf(passenger)];
    const { tenantWaitingMax, waitMaxMs } = this.#limits;
    if (queue.sizeOf(workspaceId) >= tenantWaitingMax) throw slowDown();
    if (this.#waiting >= waitingMax) throw this.#refusal(passenger);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    queue.add(workspaceId, resolve);
    this.#waiting += 1;
    const leave = (reason: () => unknown) => {
      if (!queue.remove(workspaceId, resolve)) return;
      this.#waiting -= 1;
      reject(reason());
    };
    const gone = () => leave(() => signal.reason);
    const timer = setTimeout(() => leave(() => this.#refusal(passenger)), waitMaxMs);
    signal.addEventListener('abort', gone, { once: true });
    this.#admit();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', gone);
    }
  }

  /** Heavy work first: it has few places, so light work always has the others. */
  #admit(): void {
    for (const lane of ['heavy', 'light'] as const) {
      const queue = this.#queues[lane];
      const isHeavy = lane === 'heavy';
      for (;;) {
        const next = queue.take((workspaceId) => this.#mayEnter({ workspaceId, isHeavy }));
        if (!next) break;
        this.#waiting -= 1;
        this.#change({ workspaceId: next.tenant, isHeavy }, 1);
        next.item();
      }
    }
  }

  #mayEnter({ workspaceId, isHeavy }: Passenger): boolean {
    const { places, heavyPlaces } = this.#limits;
    const total = this.#total;
    const own = this.#held.get(workspaceId);
    if (total.all >= places) return false;
    if (isHeavy) {
      if (total.heavy >= heavyPlaces) return false;
      if ((own?.heavy ?? 0) >= Math.max(1, heavyPlaces - 1)) return false;
    }
    const half = Math.max(2, Math.floor(places / 2));
    if ((own?.all ?? 0) < half) return true;
    return places - total.all > freeMin && !this.#othersWait(workspaceId);
  }

  #othersWait(workspaceId: string): boolean {
    const { heavy, light } = this.#queues;
    return this.#waiting > heavy.sizeOf(workspaceId) + light.sizeOf(workspaceId);
  }

  #change({ workspaceId, isHeavy }: Passenger, by: 1 | -1): void {
    const own = this.#held.get(workspaceId) ?? { all: 0, heavy: 0 };
    for (const held of [this.#total, own]) {
      held.all += by;
      if (isHeavy) held.heavy += by;
    }
    if (own.all === 0) this.#held.delete(workspaceId);
    else this.#held.set(workspaceId, own);
  }

  #refusal({ workspaceId, isHeavy }: Passenger): unknown {
    const own = this.#held.get(workspaceId);
    if (own && (isHeavy ? own.heavy : own.all) > 0) return slowDown();
    return retryLater('the service is busy', Code.Unavailable, retryMs);
  }
}

function laneOf({ isHeavy }: Passenger): Lane {
  return isHeavy ? 'heavy' : 'light';
}

function slowDown(): unknown {
  const text = 'too many requests of this workspace at once; wait for their answers';
  return retryLater(text, Code.ResourceExhausted, retryMs);
}
