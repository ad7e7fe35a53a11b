import { createHash } from 'node:crypto';
import { setRateLimit } from '#lib/limits/rate-limit-header.ts';
import { LruMap } from '../collections/lru-map.ts';
import { deleteExpired } from './expired.ts';
import { hiddenArray } from './prepared.ts';
import { query } from './query.ts';
import type { EntityManager, Store } from './store.ts';

/** Part of every store that limits how often something is tried. */
export const attemptsTable = `
  create table attempts (
    key bytea not null,
    attempted_at timestamptz not null,
    expires_at timestamptz not null
  );
  create index attempts_key on attempts (key, attempted_at);
  create index attempts_expired on attempts (expires_at)`;

/** The maximum of attempts under a key within any window of time. */
export type Limit = { key: string; attemptsMax: number; windowMs: number };

/** The state of the limit that is nearest to exhaustion. */
export type RateLimitState = {
  limit: Limit;
  /** Whether the attempt exceeded the limit. */
  isExhausted: boolean;
  remaining: number;
  /** Until the oldest attempt is forgotten. */
  resetMs: number;
};

/**
 * A process that has seen a limit reached does not ask again for this long: a flood of refusals
 * takes no connection.
 */
const refusedMs = 1_000;
const refusalsMax = 10_000;

type Refusal = { state: RateLimitState; at: Date };

const refusals = new WeakMap<Store, LruMap<Refusal>>();

/**
 * Counts an attempt under all its limits, or under none if one is reached. Attempts are rows, so
 * the limits survive a restart and apply to all replicas together; keys are stored as hashes, since
 * they identify people.
 */
export async function countAttempt(
  store: Store,
  limits: readonly Limit[],
  at: Date,
): Promise<RateLimitState> {
  const keys = limits.map(({ key }) => hashOf(key));
  const refused = knownRefusal(store, keys, at);
  if (refused) return refused;
  const state = await countInTurn(store, limits, { keys, at });
  if (state.isExhausted) {
    const key = keys[limits.indexOf(state.limit)];
    if (key) refusalsOf(store).set(key.toString('base64'), { state, at });
  }
  return state;
}

function refusalsOf(store: Store): LruMap<Refusal> {
  const known = refusals.get(store) ?? new LruMap({ max: refusalsMax });
  refusals.set(store, known);
  return known;
}

function knownRefusal(store: Store, keys: readonly Buffer[], at: Date): RateLimitState | undefined {
  for (const key of keys) {
    const known = refusalsOf(store).get(key.toString('base64'));
    if (!known) continue;
    const agoMs = at.getTime() - known.at.getTime();
    const { state } = known;
    if (agoMs >= 0 && agoMs < Math.min(refusedMs, state.resetMs)) {
      return { ...state, resetMs: state.resetMs - agoMs };
    }
  }
  return undefined;
}

function countInTurn(
  store: Store,
  limits: readonly Limit[],
  { keys, at }: { keys: readonly Buffer[]; at: Date },
): Promise<RateLimitState> {
  return store.fork().transactional(async (em) => {
    await takeTurns(em, keys);
    await deleteExpired(em, 'attempts', at);
    const state = await tightest(em, limits, { keys, at });
    if (state.remaining === 0) return { ...state, isExhausted: true };
    await query(
      em,
      `insert into attempts (key, attempted_at, expires_at)
       select key, $2::timestamptz, $2::timestamptz + window_ms * interval '1 millisecond'
       from unnest($1::bytea[], $3::int[]) as attempt (key, window_ms)`,
      [keys, at, limits.map(({ windowMs }) => windowMs)],
    );
    return { ...state, remaining: state.remaining - 1 };
  });
}

/** Always in one order, so that attempts which share keys cannot deadlock. */
async function takeTurns(em: EntityManager, keys: readonly Buffer[]): Promise<void> {
  const numbers = keys.toSorted((a, b) => a.compare(b)).map((key) => `${key.readBigInt64BE()}`);
  await query(em, 'select pg_advisory_xact_lock(number) from unnest($1::bigint[]) as number', [
    numbers,
  ]);
}

/** The limit with the fewest attempts left before this one; the first of several. */
async function tightest(
  em: EntityManager,
  limits: readonly Limit[],
  { keys, at }: { keys: readonly Buffer[]; at: Date },
): Promise<RateLimitState> {
  const [row] = await query<{ place: number; remaining: number; oldest: string | null }>(
    em,
    `select place::int, attempts_max - tried.count as remaining, tried.oldest
     from unnest(${hiddenArray('$1::bytea[]')}, $2::int[], $3::timestamptz[])
       with ordinality as asked (key, attempts_max, since, place)
     cross join lateral (
       select count(*)::int as count, min(attempted_at) as oldest from attempts
       where attempts.key = asked.key and attempted_at > since
     ) tried
     order by remaining, place
     limit 1`,
    [
      keys,
      limits.map(({ attemptsMax }) => attemptsMax),
      limits.map(({ windowMs }) => new Date(at.getTime() - windowMs)),
    ],
  );
  const limit = row && limits[row.place - 1];
  if (!limit) throw new Error('an attempt needs a limit');
  const resetMs = new Date(row.oldest ?? at).getTime() + limit.windowMs - at.getTime();
  return { limit, isExhausted: false, remaining: Math.max(0, row.remaining), resetMs };
}

/** Sets the RateLimit header fields. */
export function setRateLimitHeaders(header: Headers, state: RateLimitState): void {
  const { limit, remaining, resetMs } = state;
  setRateLimit(header, {
    policy: 'attempts',
    quota: limit.attemptsMax,
    windowMs: limit.windowMs,
    remaining,
    resetMs,
  });
}

/** Resets the attempts of a key; a process that has just refused it does so for another second. */
export async function forgetAttempts(em: EntityManager, key: string): Promise<void> {
  await query(em, 'delete from attempts where key = $1', [hashOf(key)]);
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
