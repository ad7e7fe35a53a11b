import { Code } from '@connectrpc/connect';
import type { Variables } from '#lib/env.ts';
import { retryLater } from '#lib/errors/errors.ts';
import { clientNetwork } from '#lib/networks/client-network.ts';
import { setRateLimit } from './rate-limit-header.ts';
import { burstSeconds, RateLimiter } from './rate-limiter.ts';

/**
 * Requests a second of each key or user, each workspace and each client address; zero is no limit.
 */
export type RequestRates = { key: number; workspace: number; address: number };
export type LimitKind = keyof RequestRates;

const perSecondMax = 1_000_000;

/** A sender that keeps eight requests open all the time stays below them. */
export const ratesDefault: RequestRates = { key: 500, workspace: 1_000, address: 2_000 };

/** The settings of an operator. */
export function readRequestRates(variables: Variables): RequestRates {
  const range = { from: 0, to: perSecondMax };
  return {
    key: variables.integer('REQUESTS_PER_SECOND_OF_KEY', {
      ...range,
      fallback: ratesDefault.key,
      about:
        'Requests of one API key or user, over all processes; twice as many at once. The same value in the gateway and every service; `0` for no limit. Workers have none.',
    }),
    workspace: variables.integer('REQUESTS_PER_SECOND_OF_WORKSPACE', {
      ...range,
      fallback: ratesDefault.workspace,
      about: 'The same for one workspace.',
    }),
    address: variables.integer('REQUESTS_PER_SECOND_OF_ADDRESS', {
      ...range,
      fallback: ratesDefault.address,
      about:
        'The same for one client address (a /64 of IPv6); links and pictures of mails don\u2019t count. Behind a proxy that `TRUSTED_PROXIES` doesn\u2019t name, all clients are one.',
    }),
  };
}

export const noLimits: RequestRates = { key: 0, workspace: 0, address: 0 };

const texts: Record<LimitKind, string> = {
  key: 'too many requests with this key; slow down',
  workspace: 'too many requests for this workspace; slow down',
  address: 'too many requests from this address; slow down',
};

/**
 * The limits of requests that a process counts; `shareUsage` has several processes keep them
 * together.
 */
export class RequestLimits {
  /** Only those with a limit. */
  readonly buckets: ReadonlyMap<LimitKind, RateLimiter>;

  constructor(rates: RequestRates, now?: () => number) {
    const kinds = ['key', 'workspace', 'address'] as const;
    const limited = kinds.filter((kind) => rates[kind] > 0);
    this.buckets = new Map(
      limited.map((kind) => [kind, new RateLimiter(rates[kind], now ? { now } : {})]),
    );
  }

  /**
   * Counts a request. Throws ResourceExhausted, with the RateLimit header fields as metadata,
   * beyond the limit.
   */
  take(kind: LimitKind, id: string): void {
    const buckets = this.buckets.get(kind);
    if (!buckets) return;
    const { isRefused, remaining, resetMs } = buckets.take(
      kind === 'address' ? clientNetwork(id) : id,
    );
    if (!isRefused) return;
    const error = retryLater(texts[kind], Code.ResourceExhausted, resetMs);
    setRateLimit(error.metadata, {
      policy: kind,
      quota: buckets.burst,
      windowMs: burstSeconds * 1_000,
      remaining,
      resetMs,
    });
    throw error;
  }
}
