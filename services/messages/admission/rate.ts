import { prepared } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { DayLimit } from './warm-up.ts';

export type RateKey = { workspaceId: string; integrationId: string; perMinute: number };

export type Permits = {
  /** How many messages may be sent now. */
  count: number;
  /** When there are none: how long until there are some. */
  waitMs: number;
  isDaySpent: boolean;
  /** The day whose limit they count for, as `2026-11-21`. */
  date: string;
  /** How many processes send through the integration at the moment. */
  replicas: number;
};

export type Draw = {
  /** The process that draws. */
  owner: string;
  wanted: number;
  /** Bulk mail leaves a tenth of the permits to urgent mail. */
  isUrgent: boolean;
  today: DayLimit;
};

/** A process that has drawn no permits for this long counts as gone. */
const replicaKeptMs = 10_000;
/** At a high rate a draw waits until permits of this many seconds have gathered. */
const gatherS = 0.05;

/**
 * Takes up to `wanted` permits to send. All replicas draw on one row per integration, which holds
 * no more than a second's worth, and counts what the day has taken.
 */
export async function takePermits(store: Store, key: RateKey, draw: Draw): Promise<Permits> {
  const perSecond = key.perMinute / 60;
  const burst = Math.max(1, perSecond);
  const kept = draw.isUrgent ? 0 : Math.floor(burst / 10);
  const row = await drawFrom(store, key, { ...draw, perSecond, burst, kept });
  const { granted: count, tokens, spent, date, replicas } = row;
  const enough = Math.max(1, Math.min(draw.wanted, perSecond * gatherS));
  const waitMs = Math.max(1, Math.ceil(((enough + kept - tokens) / perSecond) * 1_000));
  return { count, waitMs, isDaySpent: count === 0 && spent, date, replicas };
}

type RateRow = {
  granted: number;
  tokens: number;
  spent: boolean;
  date: string;
  replicas: number;
};

/**
 * One statement, so that replicas take turns on the row and none holds it longer. A day that has
 * begun for one of them has begun for all. `least` passes over a limit that is null.
 */
async function drawFrom(
  store: Store,
  { workspaceId, integrationId }: RateKey,
  {
    owner,
    wanted,
    today,
    perSecond,
    burst,
    kept,
  }: Draw & { perSecond: number; burst: number; kept: number },
): Promise<RateRow> {
  const first = 'least($5::int, floor($3::float8 - $8::int), $7::int)::int';
  const mine = `jsonb_build_object($9::text, extract(epoch from clock_timestamp())::float8 * 1000)`;
  const [row] = await query<RateRow>(
    store.fork(),
    prepared(`insert into sending_rates as r
       (workspace_id, integration_id, tokens, granted, day, day_count, replicas, updated_at)
     values ($1, $2, $3::float8 - ${first}, ${first}, $6::date, ${first}, ${mine}, clock_timestamp())
     on conflict (workspace_id, integration_id) do update
     set (tokens, granted, day, day_count, replicas, updated_at) = (
       select filled - given, given, greatest(r.day, $6::date), taken + given, alive.replicas || ${mine},
         greatest(r.updated_at, clock_timestamp())
       from (
         select
           least($3::float8, r.tokens
             + $4::float8 * extract(epoch from clock_timestamp() - r.updated_at)::float8) as filled,
           case when r.day >= $6::date then r.day_count else 0 end as taken
       ) had
       cross join lateral (
         select greatest(0, least($5::int, floor(filled - $8::int), $7::int - taken))::int as given
       ) share
       cross join lateral (
         select coalesce(jsonb_object_agg(id, drew_at), '{}') as replicas from jsonb_each(r.replicas) as one (id, drew_at)
         where drew_at::float8 > extract(epoch from clock_timestamp())::float8 * 1000 - ${replicaKeptMs}
       ) alive
     )
     -- The answer waits for no disk: a server that falls loses a second's draws at most.
     returning set_config('synchronous_commit', 'off', true), granted, tokens, coalesce(day_count >= $7::int, false) as spent, day::text as date,
       (select count(*)::int from jsonb_object_keys(r.replicas)) as replicas`),
    [
      workspaceId,
      integrationId,
      burst,
      perSecond,
      wanted,
      today.date,
      today.limit ?? null,
      kept,
      owner,
    ],
  );
  if (!row) throw new Error('the row of a rate was neither made nor changed');
  return row;
}

/** Puts back what was not used of permits of a day. Another day counts without them. */
export async function returnPermits(
  store: Store,
  key: RateKey,
  count: number,
  date: string,
): Promise<void> {
  if (count <= 0) return;
  await query(
    store.fork(),
    `update sending_rates set tokens = tokens + $3,
       day_count = case when day = $4::date then greatest(0, day_count - $3) else day_count end
     where workspace_id = $1 and integration_id = $2`,
    [key.workspaceId, key.integrationId, count, date],
  );
}
