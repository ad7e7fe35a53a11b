import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Today } from './warm-up.ts';

export type RateKey = { workspaceId: string; integrationId: string; perMinute: number };

/** Permits to send; none where the signal ended the wait, or the day has no more. */
export type Permits = { count: number; isDaySpent: boolean };

type Wish = { wanted: number; today: () => Today; signal: AbortSignal };

const longestWaitMs = 1_000;

/**
 * Takes up to `wanted` permits to send, and waits for the first one. All replicas draw on one row
 * per integration, which holds no more than a second's worth, and counts what the day has taken.
 */
export async function takePermits(
  store: Store,
  key: RateKey,
  { wanted, today, signal }: Wish,
): Promise<Permits> {
  while (!signal.aborted) {
    const permits = await draw(store, key, { wanted, today: today() });
    if (permits.count > 0 || permits.isDaySpent) return permits;
    await pause(Math.min(longestWaitMs, 60_000 / key.perMinute), signal);
  }
  return { count: 0, isDaySpent: false };
}

/**
 * One statement, so that replicas take turns on the row and none holds it longer. A day that has begun for one of them
 * has begun for all. `least` looks over a limit that is null.
 */
async function draw(
  store: Store,
  key: RateKey,
  { wanted, today }: { wanted: number; today: Today },
): Promise<Permits> {
  const perSecond = key.perMinute / 60;
  const burst = Math.max(1, perSecond);
  const first = 'least($5::int, floor($3::float8), $7::int)::int';
  const [row] = await query<{ granted: number; spent: boolean }>(
    store.fork(),
    `insert into sending_rates as r (workspace_id, integration_id, tokens, granted, day, day_count, updated_at)
     values ($1, $2, $3::float8 - ${first}, ${first}, $6::date, ${first}, clock_timestamp())
     on conflict (workspace_id, integration_id) do update
     set (tokens, granted, day, day_count, updated_at) = (
       select filled - given, given, greatest(r.day, $6::date), taken + given,
         greatest(r.updated_at, clock_timestamp())
       from (
         select
           least($3::float8, r.tokens
             + $4::float8 * extract(epoch from clock_timestamp() - r.updated_at)::float8) as filled,
           case when r.day >= $6::date then r.day_count else 0 end as taken
       ) had
       cross join lateral (
         select greatest(0, least($5::int, floor(filled), $7::int - taken))::int as given
       ) share
     )
     returning granted, coalesce(day_count >= $7::int, false) as spent`,
    [key.workspaceId, key.integrationId, burst, perSecond, wanted, today.date, today.limit ?? null],
  );
  const count = row?.granted ?? 0;
  return { count, isDaySpent: count === 0 && row?.spent === true };
}

/** Puts back what was not used. */
export async function returnPermits(store: Store, key: RateKey, count: number): Promise<void> {
  if (count <= 0) return;
  await query(
    store.fork(),
    `update sending_rates set tokens = tokens + $3, day_count = greatest(0, day_count - $3)
     where workspace_id = $1 and integration_id = $2`,
    [key.workspaceId, key.integrationId, count],
  );
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
