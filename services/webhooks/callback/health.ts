import type { Subscription } from '../subscription.ts';

/** How well an endpoint has answered, as its row says it. */
export type EndpointHealth = Pick<
  Subscription,
  'failures_in_row' | 'failing_since' | 'probe_at' | 'recovered_at' | 'next_claim_at'
>;

/** The reasons for which the system disables a subscription. */
export const goneReason = 'The endpoint answered 410 Gone';
export const failingReason = 'The endpoint has failed for five days';

const opensAfter = 5;
const probeAfterMinMs = 30_000;
const probeAfterMaxMs = 15 * 60_000;
/** For as long a failed look-up of its name is kept. */
const ourPauseMs = 5_000;
const failingMaxMs = 5 * 24 * 3_600_000;

const seconds = (count: number) => count * 1_000;
const minutes = (count: number) => seconds(60 * count);
const hours = (count: number) => minutes(60 * count);
const delaysMs = [
  seconds(30),
  minutes(1),
  minutes(2),
  minutes(5),
  minutes(15),
  minutes(30),
  hours(1),
  hours(2),
  hours(6),
];
const retryAfterMaxMs = hours(6);

/**
 * Up to ten per cent more or less, so that deliveries that failed together are not retried
 * together.
 */
const spread = (ms: number, random: number) => ms * (0.9 + 0.2 * random);

/** When the next attempt is due after attempt `attempts` failed; undefined after the last. */
export function retryAt(
  attempts: number,
  {
    now,
    retryAfterMs = 0,
    random = Math.random(),
  }: { now: Date; retryAfterMs?: number; random?: number },
): Date | undefined {
  const delayMs = delaysMs[attempts - 1];
  if (delayMs === undefined) return undefined;
  const askedMs = Math.min(retryAfterMs, retryAfterMaxMs);
  return new Date(now.getTime() + Math.max(spread(delayMs, random), askedMs));
}

/**
 * The circuit is open from the fifth failure in a row to the next success; then one delivery at a
 * time is a probe.
 */
export function afterFailure(
  health: EndpointHealth,
  now: Date,
  random = Math.random(),
): EndpointHealth {
  const failures = health.failures_in_row + 1;
  const since = health.failing_since ?? now;
  if (failures < opensAfter) return { ...health, failures_in_row: failures, failing_since: since };
  const quarterMs = (now.getTime() - since.getTime()) / 4;
  const waitMs = Math.min(Math.max(quarterMs, probeAfterMinMs), probeAfterMaxMs);
  return {
    failures_in_row: failures,
    failing_since: since,
    probe_at: new Date(now.getTime() + spread(waitMs, random)),
    recovered_at: null,
    next_claim_at: null,
  };
}

/**
 * Nothing is known of the endpoint, so its failures stay as they are; it gets nothing more for a
 * moment.
 */
export function afterOurFailure(health: EndpointHealth, now: Date): EndpointHealth {
  if (health.probe_at != null) return health;
  const nextAt = new Date(now.getTime() + ourPauseMs);
  return { ...health, recovered_at: now, next_claim_at: nextAt };
}

/** A success closes the circuit; then claims are paced for some seconds. */
export function afterSuccess(health: EndpointHealth, now: Date): EndpointHealth {
  const closes = health.probe_at != null;
  return {
    failures_in_row: 0,
    failing_since: null,
    probe_at: null,
    recovered_at: closes ? now : health.recovered_at,
    next_claim_at: closes ? now : health.next_claim_at,
  };
}

/**
 * Whether it has failed long and often enough to be disabled: two failures a week apart are no
 * proof.
 */
export function isGivenUp({ failing_since, failures_in_row }: EndpointHealth, now: Date): boolean {
  if (failing_since == null || failures_in_row < opensAfter) return false;
  return now.getTime() - failing_since.getTime() >= failingMaxMs;
}
