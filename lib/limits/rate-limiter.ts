import { LruMap } from '../collections/lru-map.ts';

/** A bucket holds the requests of this time, unless its burst is given. */
export const burstSeconds = 2;
const keysMax = 20_000;

type Bucket = { tokens: number; atMs: number };

export type TakeResult = { isRefused: boolean; remaining: number; resetMs: number };

/**
 * Limits a rate by key, with a token bucket for each. A key that was not used for long has a full
 * bucket. Other processes may use the same key: `setShares` says how much of a rate is left to this
 * one.
 */
export class RateLimiter {
  readonly perSecond: number;
  readonly burst: number;
  readonly #now: () => number;
  readonly #buckets = new LruMap<Bucket>({ max: keysMax });
  #used = new Map<string, number>();
  #shares: ReadonlyMap<string, number> = new Map();

  constructor(perSecond: number, { now, burst }: { now?: () => number; burst?: number } = {}) {
    this.perSecond = perSecond;
    this.burst = burst ?? perSecond * burstSeconds;
    this.#now = now ?? (() => performance.now());
  }

  /** Takes one token, or none if less than one is there. */
  take(key: string): TakeResult {
    const share = this.#shares.get(key) ?? 1;
    const perSecond = this.perSecond * share;
    const max = Math.max(1, this.burst * share);
    const atMs = this.#now();
    const bucket = this.#buckets.get(key) ?? { tokens: max, atMs };
    bucket.tokens = Math.min(max, this.#refilled(bucket, atMs, perSecond));
    bucket.atMs = atMs;
    this.#buckets.set(key, bucket);
    const isRefused = bucket.tokens < 1;
    if (!isRefused) this.#count(key, bucket);
    const remaining = Math.floor(bucket.tokens);
    const missing = (remaining < 1 ? 1 : max) - bucket.tokens;
    return { isRefused, remaining, resetMs: (missing / perSecond) * 1_000 };
  }

  /** Whether less than one token is there. Takes none. */
  isEmpty(key: string): boolean {
    const bucket = this.#buckets.get(key);
    if (!bucket) return false;
    const perSecond = this.perSecond * (this.#shares.get(key) ?? 1);
    return this.#refilled(bucket, this.#now(), perSecond) < 1;
  }

  /** Tokens taken since the last call, by key. */
  takeUsage(): Map<string, number> {
    const used = this.#used;
    this.#used = new Map();
    return used;
  }

  /**
   * The shares of the rate, from 0 to 1, of keys that other processes use as well; all others have
   * all of it.
   */
  setShares(shares: ReadonlyMap<string, number>): void {
    this.#shares = shares;
  }

  #refilled({ tokens, atMs }: Bucket, nowMs: number, perSecond: number): number {
    return tokens + ((nowMs - atMs) / 1_000) * perSecond;
  }

  #count(key: string, bucket: Bucket): void {
    bucket.tokens -= 1;
    const used = this.#used.get(key);
    if (used !== undefined || this.#used.size < keysMax) this.#used.set(key, (used ?? 0) + 1);
  }
}
