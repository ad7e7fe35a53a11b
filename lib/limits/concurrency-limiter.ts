/*
 * Lanes: a fair limiter of concurrent work, by tenant.
 *
 * A lane has a number of places. Tenants take turns for them; one alone has all but two, with
 * others at most half. Work waits in order, for 4 s at most: its tenant's share full is
 * RESOURCE_EXHAUSTED, the lane full is UNAVAILABLE, both with the time after which to ask again.
 *
 * A heavy lane (`besideOthers`) has fewer places of a tenant while others make calls, and lets it
 * rest after each, so that quick calls find the processors free.
 */

import { Code } from '@connectrpc/connect';
import { FairQueue } from '#lib/collections/fair-queue.ts';
import { retryLater } from '#lib/errors/errors.ts';
import { Activity } from './activity.ts';

export type ConcurrencyLimits = {
  /** Of all tenants. */
  places: number;
  /**
   * Of a tenant that is alone; all but two if absent. Its work goes on in them when others come.
   */
  aloneMax?: number;
  /** Work of one tenant that may wait. */
  tenantWaitingMax: number;
  waitMaxMs: number;
  /**
   * While others make calls, whether those need a place or not; if absent, that makes no
   * difference.
   */
  besideOthers?: BesideOthers;
};

export type BesideOthers = {
  /** Of one tenant. */
  places: number;
  /** After giving a place back, a tenant rests this many times as long as it had the place. */
  restTimes: number;
  restMaxMs: number;
};

/** Left to newcomers where nobody waits. */
const freeMin = 2;
const waitingMax = 2_000;
const retryMs = 1_000;
const waits = { tenantWaitingMax: 64, waitMaxMs: 4_000 };

/**
 * The places of a pool: a fifth of its connections stays free for work that belongs to no tenant.
 */
export function limitsOfPool(connections: number): ConcurrencyLimits {
  return { ...waits, places: Math.max(1, connections - Math.ceil(connections / 5)) };
}

/**
 * Heavy operations, which read or write much: three at a time in a process, two of one tenant.
 * While others are active, one of a tenant, and none in two thirds of the time: their quick calls
 * need the processors, and what a heavy call leaves to jobs takes as long again.
 */
export const heavyLimits: ConcurrencyLimits = {
  ...waits,
  places: 3,
  besideOthers: { places: 1, restTimes: 2, restMaxMs: 500 },
};

/**
 * Limits what is in progress, fairly: tenants share the places, and take turns where they wait. A
 * tenant has at most half of them, at least two, while others wait; alone it has all but two. A
 * wait is bounded: the tenant that fills its share gets a ResourceExhausted.
 */
export class ConcurrencyLimiter {
  readonly #limits: ConcurrencyLimits;
  readonly #queue = new FairQueue<() => void>();
  readonly #held = new Map<string, number>();
  #total = 0;
  #waiting = 0;
  readonly #activity = new Activity();
  /** Tenants that may not enter before, in milliseconds of this process. */
  readonly #restsUntilMs = new Map<string, number>();

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits;
  }

  /** A tenant makes a call, whether that takes a place or not. */
  noteCall(tenant: string): void {
    this.#activity.note(tenant);
  }

  /**
   * Resolves with what gives the place back; with `restMs` the tenant may not enter for that time
   * afterwards. ResourceExhausted if the tenant has its share or rests, else Unavailable.
   */
  async enter(tenant: string, signal: AbortSignal): Promise<(restMs?: number) => void> {
    signal.throwIfAborted();
    if (this.#waiting === 0 && this.#mayEnter(tenant)) this.#take(tenant);
    else await this.#wait(tenant, signal);
    const enteredAtMs = performance.now();
    let hasLeft = false;
    return (ownRestMs = 0) => {
      if (hasLeft) return;
      hasLeft = true;
      this.#total -= 1;
      if (ownRestMs > 0) this.#rest(tenant, ownRestMs);
      const { restTimes = 0, restMaxMs = 0 } = this.#besideOthers(tenant) ?? {};
      const restMs = Math.min(restMaxMs, restTimes * (performance.now() - enteredAtMs));
      if (restMs === 0) return this.#giveBack(tenant);
      setTimeout(() => this.#giveBack(tenant), restMs).unref();
      this.#admit();
    };
  }

  /** Rests add up: calls at the same time take no more together than one after the other. */
  #rest(tenant: string, restMs: number): void {
    const now = performance.now();
    const untilMs = Math.max(now, this.#restsUntilMs.get(tenant) ?? 0) + restMs;
    this.#restsUntilMs.set(tenant, untilMs);
    const end = () => {
      if (this.#restsUntilMs.get(tenant) !== untilMs) return;
      this.#restsUntilMs.delete(tenant);
      this.#admit();
    };
    setTimeout(end, untilMs - now).unref();
  }

  #take(tenant: string): void {
    this.#total += 1;
    this.#held.set(tenant, this.#heldBy(tenant) + 1);
  }

  #giveBack(tenant: string): void {
    const held = this.#heldBy(tenant) - 1;
    if (held === 0) this.#held.delete(tenant);
    else this.#held.set(tenant, held);
    this.#admit();
  }

  async #wait(tenant: string, signal: AbortSignal): Promise<void> {
    const { tenantWaitingMax, waitMaxMs } = this.#limits;
    if (this.#queue.sizeOf(tenant) >= tenantWaitingMax) throw slowDown();
    if (this.#waiting >= waitingMax) throw this.#refusal(tenant);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#queue.add(tenant, resolve);
    this.#waiting += 1;
    const leave = (reason: () => unknown) => {
      if (!this.#queue.remove(tenant, resolve)) return;
      this.#waiting -= 1;
      reject(reason());
    };
    const gone = () => leave(() => signal.reason);
    const timer = setTimeout(() => leave(() => this.#refusal(tenant)), waitMaxMs);
    signal.addEventListener('abort', gone, { once: true });
    this.#admit();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', gone);
    }
  }

  #admit(): void {
    for (;;) {
      const next = this.#queue.take((tenant) => this.#mayEnter(tenant));
      if (!next) return;
      this.#waiting -= 1;
      this.#take(next.tenant);
      next.item();
    }
  }

  #mayEnter(tenant: string): boolean {
    const { places, aloneMax = places } = this.#limits;
    if (this.#total >= places || this.#restsUntilMs.has(tenant)) return false;
    if (this.#heldBy(tenant) < this.#shareOf(tenant)) return true;
    if (this.#besideOthers(tenant)) return false;
    const othersWait = this.#waiting > this.#queue.sizeOf(tenant);
    return !othersWait && this.#heldBy(tenant) < aloneMax && places - this.#total > freeMin;
  }

  #shareOf(tenant: string): number {
    const { places, aloneMax = places } = this.#limits;
    const half = Math.max(2, Math.floor(places / 2));
    return this.#besideOthers(tenant)?.places ?? Math.min(aloneMax, half);
  }

  /** Undefined while no other tenant is active. */
  #besideOthers(tenant: string): BesideOthers | undefined {
    return this.#activity.isAlone(tenant) ? undefined : this.#limits.besideOthers;
  }

  #heldBy(tenant: string): number {
    return this.#held.get(tenant) ?? 0;
  }

  /** The wait of a tenant that has not filled its share is no fault of its own. */
  #refusal(tenant: string): unknown {
    const isFull = this.#heldBy(tenant) >= Math.min(2, this.#shareOf(tenant), this.#limits.places);
    if (isFull || this.#restsUntilMs.has(tenant)) return slowDown();
    return retryLater('the service is busy', Code.Unavailable, retryMs);
  }
}

function slowDown(): unknown {
  const text = 'too many requests of this workspace at once; wait for their answers';
  return retryLater(text, Code.ResourceExhausted, retryMs);
}
