import { createHash } from 'node:crypto';
import { type EntityManager, query, type Store } from './store.ts';

/** Part of every store that limits how often something is tried. */
export const attemptsTable = `
  create table attempts (
    key bytea not null,
    attempted_at timestamptz not null,
    expires_at timestamptz not null
  );
  create index attempts_key on attempts (key, attempted_at);
  create index attempts_expired on attempts (expires_at)`;

/** At most so many attempts under a key within any window of time. */
export type Limit = { key: string; attemptsMax: number; windowMs: number };

/** How much room is left under the limit that has least of it. */
export type Room = {
  limit: Limit;
  /** The attempt was one too many. */
  isExhausted: boolean;
  remaining: number;
  /** Until the oldest attempt is forgotten. */
  resetMs: number;
};

// More than one call adds, so that what nobody tries again goes away as well.
const sweptMax = 500;

/**
 * Counts an attempt under all its limits, or under none where one is reached. Attempts are rows, so
 * the limits survive a restart and hold over all replicas; keys are stored as hashes, since they name
 * people.
 */
export function countAttempt(
  store: Store,
  limits: readonly Limit[],
  at: Date,
): Promise<Room> {
  // Always in one order, so that attempts which share keys can't deadlock.
  const hashed = limits
    .map((limit) => ({ limit, hash: hashOf(limit.key) }))
    .toSorted((a, b) => a.hash.compare(b.hash));
  return store.fork().transactional(async (em) => {
    for (const { hash } of hashed) {
      await query(em, 'select pg_advisory_xact_lock($1::bigint)', [
        hash.readBigInt64BE().toString(),
      ]);
    }
    await sweep(em, at);
    const rooms: Room[] = [];
    for (const { limit, hash } of hashed) rooms.push(await roomOf(em, limit, { hash, at }));
    const tightest = rooms.toSorted((one, other) => one.remaining - other.remaining)[0];
    if (!tightest) throw new Error('an attempt needs a limit');
    if (tightest.remaining === 0) return { ...tightest, isExhausted: true };
    await query(
      em,
      `insert into attempts (key, attempted_at, expires_at)
       select key, $2::timestamptz, $2::timestamptz + window_ms * interval '1 millisecond'
       from unnest($1::bytea[], $3::int[]) as attempt (key, window_ms)`,
      [hashed.map(({ hash }) => hash), at, hashed.map(({ limit }) => limit.windowMs)],
    );
    return { ...tightest, remaining: tightest.remaining - 1 };
  });
}

/** Gives a key all its attempts back. */
export async function forgetAttempts(em: EntityManager, key: string): Promise<void> {
  await query(em, 'delete from attempts where key = $1', [hashOf(key)]);
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

async function sweep(em: EntityManager, at: Date): Promise<void> {
  await query(
    em,
    `delete from attempts where ctid = any(array(
       select ctid from attempts where expires_at <= $1 order by expires_at limit ${sweptMax}
       for update skip locked
     ))`,
    [at],
  );
}

/** What is left before the attempt. */
async function roomOf(
  em: EntityManager,
  limit: Limit,
  { hash, at }: { hash: Buffer; at: Date },
): Promise<Room> {
  const [tried] = await query<{ count: number; oldest: string | null }>(
    em,
    `select count(*)::int as count, min(attempted_at) as oldest from attempts
     where key = $1 and attempted_at > $2`,
    [hash, new Date(at.getTime() - limit.windowMs)],
  );
  const oldest = new Date(tried?.oldest ?? at);
  return {
    limit,
    isExhausted: false,
    remaining: Math.max(0, limit.attemptsMax - (tried?.count ?? 0)),
    resetMs: oldest.getTime() + limit.windowMs - at.getTime(),
  };
}

/** Tells a caller about its limit, in the words of the RateLimit header fields. */
export function tellRoom(header: Headers, { limit, remaining, resetMs }: Room): void {
  header.set('ratelimit-limit', String(limit.attemptsMax));
  header.set('ratelimit-remaining', String(remaining));
  header.set('ratelimit-reset', String(Math.ceil(resetMs / 1000)));
}
