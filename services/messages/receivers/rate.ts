import { plainArray } from '#lib/postgres/arrays.ts';
import { prepared } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { DayLimit } from '../admission/warm-up.ts';

export type IntegrationKey = { workspaceId: string; integrationId: string };

/** Times of pacing; tests have shorter ones. */
export type PaceTimes = {
  /** A receiver that asks for less mail gets a tenth for as many of these as its reply says. */
  minuteMs: number;
  /** Mail that waits is looked at again by then. */
  horizonMs: number;
  /** Bulk mail that waits comes back at multiples of this. */
  waveMs: number;
};

/** Permits of this many seconds gather, so that mail of a wave finds as many. */
const burstS = 10;

export const paceTimes: PaceTimes = {
  minuteMs: 60_000,
  horizonMs: 60 * 60_000,
  waveMs: burstS * 1_000,
};

/** Permits wanted of a group. */
export type ReceiverWish = {
  receiver: string;
  wanted: number;
  perSecond: number;
  /** Whether a table names the group, and not DNS or a recipient's address. */
  isNamed: boolean;
};

export type ReceiverDraw = {
  /** The process that draws. */
  owner: string;
  /** Bulk mail leaves a tenth of the permits to urgent mail. */
  isUrgent: boolean;
  /** With the messages that a group may get on the day; undefined without such a limit. */
  today: DayLimit;
};

export type ReceiverGrant = {
  /** The group whose rate it is: the receiver, or `other` for those that share a row. */
  group: string;
  count: number;
  /** Whether the day's limit has ended the count. */
  isDaySpent: boolean;
  /** The day they count for, as `2026-11-21`. */
  date: string;
  /** When the wanted ones beyond `count` have their turns, in milliseconds from now. */
  turns: { fromMs: number; untilMs: number };
  /** Whether the group gets less for a time. */
  isSlowed: boolean;
  /** How many processes send to the group at the moment. */
  replicas: number;
};

/** A group is never slower, whatever its receiver asks for. */
const leastPerSecond = 1 / 60;
/** The share of a rate that is left when its receiver asks for less. */
const slowedTo = 0.1;
/** A process that has drawn no permits for this long counts as gone. */
const replicaKeptMs = 10_000;
/** Doublings that are counted; more than any rate needs. */
const stepsMax = 30;
/**
 * Groups of an integration with a row; a tenant's domains could be any number. Groups that a table
 * names have one in any case. Statements at the same time do not see each other's rows, and may
 * add theirs beyond it.
 */
const rowsMax = 2_000;
/** The group whose row is that of all domains beyond `rowsMax`. */
const sharedGroup = 'other';

const nowMs = 'extract(epoch from clock_timestamp())::float8 * 1000';
/** The share of its rate that a row's group has now. */
const share = `case
    when r.slowed_to is null then 1
    when clock_timestamp() < r.eases_at then r.slowed_to
    else least(1, r.slowed_to * power(2, least(${stepsMax},
      1 + floor(extract(epoch from clock_timestamp() - r.eases_at)::float8 * 1000 / r.step_ms))))
  end`;
const paced = (perSecond: string) =>
  `greatest(${perSecond} * ${share}, least(${perSecond}, ${leastPerSecond}))`;
const burstOf = (perSecond: string) => `greatest(1, ${perSecond} * ${burstS})`;
const keptOf = (burst: string) => `case when $7::boolean then 0 else floor(${burst} / 10) end`;

type GrantRow = {
  receiver: string;
  /** Others may share it. The numbers are those of all. */
  row_name: string;
  granted: number;
  refused: number;
  spent: boolean;
  date: string;
  from_ms: number;
  until_ms: number;
  is_slowed: boolean;
  replicas: number;
};

/**
 * Takes permits of each group, as many as are wanted at most. All replicas draw on one row per
 * group. Messages without a permit are queued: each has a turn of its own, behind those that wait
 * already. In the order of the key, so that parallel statements can't deadlock.
 */
const drawSql = prepared(`with wishes as (
    select *, is_named or exists (
      select from receiver_rates r
      where workspace_id = $1 and integration_id = $2 and r.receiver = given.receiver
    ) as has_row
    from unnest($3::text[], $4::int[], $5::float8[], $11::boolean[])
      as given (receiver, wanted, per_second, is_named)
  ), placed as materialized (
    select receiver, wanted, per_second, case
      when has_row then receiver
      when row_number() over (partition by has_row order by receiver) + (
        select count(*) from receiver_rates where workspace_id = $1 and integration_id = $2
      ) <= ${rowsMax} then receiver
      else '${sharedGroup}'
    end as row_name
    from wishes
  ), asked as (
    select row_name as receiver, sum(wanted)::int as wanted, max(per_second) as per_second,
      ${burstOf('max(per_second)')} as burst
    from placed group by row_name
  ), first as (
    select *, least(wanted, floor(burst - ${keptOf('burst')}), $8::int)::int as given from asked
  ), drawn as (
  insert into receiver_rates as r (workspace_id, integration_id, receiver, per_second, tokens,
    granted, refused, day, day_count, replicas, queue_until, updated_at)
  select $1, $2, receiver, per_second, burst - given, given, wanted - given, $6::date, given,
    jsonb_build_object($9::text, ${nowMs}),
    clock_timestamp() + (wanted - given) / per_second * interval '1 second', clock_timestamp()
  from first order by receiver
  on conflict (workspace_id, integration_id, receiver) do update
  set (per_second, tokens, granted, refused, day, day_count, replicas, queue_until, updated_at) = (
    select excluded.per_second, filled - given, given, wanted - given,
      greatest(r.day, excluded.day), taken + given, alive.replicas || excluded.replicas,
      case
        when wanted = given then r.queue_until
        -- No further than mail is queued, and once more.
        else least(clock_timestamp() + 2 * $10::float8 * interval '1 millisecond',
          greatest(r.queue_until, clock_timestamp()
            + greatest(0, 1 + kept - (filled - given)) / pace * interval '1 second')
          + (wanted - given) / pace * interval '1 second')
      end,
      greatest(r.updated_at, clock_timestamp())
    from (select excluded.granted + excluded.refused as wanted, ${paced('excluded.per_second')} as pace) asked
    cross join lateral (
      select ${burstOf('pace')} as burst,
        case when r.day >= excluded.day then r.day_count else 0 end as taken
    ) had
    cross join lateral (
      select ${keptOf('burst')} as kept,
        least(burst, r.tokens
          + pace * greatest(0, extract(epoch from clock_timestamp() - r.updated_at)::float8)) as filled
    ) has
    cross join lateral (
      select greatest(0, least(wanted, floor(filled - kept), $8::int - taken))::int as given
    ) share
    cross join lateral (
      select coalesce(jsonb_object_agg(id, drew_at), '{}') as replicas
      from jsonb_each(r.replicas) as one (id, drew_at)
      where drew_at::float8 > ${nowMs} - ${replicaKeptMs}
    ) alive
  )
  returning receiver as row_name, granted, refused, coalesce(day_count >= $8::int, false) as spent, day::text as date,
    greatest(0, extract(epoch from queue_until - clock_timestamp())::float8
      - refused / ${paced('per_second')}) * 1000 as from_ms,
    greatest(0, extract(epoch from queue_until - clock_timestamp())::float8) * 1000 as until_ms,
    ${share} < 1 as is_slowed, (select count(*)::int from jsonb_object_keys(replicas)) as replicas
  ) select receiver, drawn.* from drawn join placed using (row_name)`);

/** By receiver. */
export async function drawReceiverPermits(
  store: Store,
  { workspaceId, integrationId }: IntegrationKey,
  {
    wishes,
    owner,
    isUrgent,
    today,
    horizonMs,
  }: ReceiverDraw & {
    wishes: readonly ReceiverWish[];
    horizonMs: number;
  },
): Promise<Map<string, ReceiverGrant>> {
  const rows = await query<GrantRow>(store.fork(), drawSql, [
    workspaceId,
    integrationId,
    wishes.map(({ receiver }) => receiver),
    plainArray(wishes.map(({ wanted }) => wanted)),
    plainArray(wishes.map(({ perSecond }) => perSecond)),
    today.date,
    isUrgent,
    today.limit ?? null,
    owner,
    horizonMs,
    wishes.map(({ isNamed }) => isNamed),
  ]);
  const wanted = new Map(wishes.map((wish) => [wish.receiver, wish.wanted]));
  const byRow = Map.groupBy(rows, (row) => row.row_name);
  return new Map([...byRow.values()].flatMap((sharing) => grantsOf(sharing, wanted)));
}

/** Divides what a row has given among the receivers that share it, with its turns. */
function grantsOf(
  sharing: readonly GrantRow[],
  wanted: ReadonlyMap<string, number>,
): [string, ReceiverGrant][] {
  let [left, queued] = [sharing[0]?.granted ?? 0, 0];
  return sharing.map((row) => {
    const { receiver, row_name: group, refused, date, spent: isDaySpent, replicas } = row;
    const own = wanted.get(receiver) ?? 0;
    const count = Math.min(left, own);
    const { from_ms: fromMs, until_ms: untilMs } = row;
    const turnMs = (untilMs - fromMs) / Math.max(1, refused);
    const before = queued;
    left -= count;
    queued += own - count;
    const turns = { fromMs: fromMs + turnMs * before, untilMs: fromMs + turnMs * queued };
    const isSlowed = row.is_slowed;
    return [receiver, { group, count, date, isDaySpent, isSlowed, replicas, turns }];
  });
}

/**
 * Puts back what was not used of permits of a day, into the row that a receiver shares where it has
 * none. Another day counts without them.
 */
export async function returnReceiverPermits(
  store: Store,
  { workspaceId, integrationId, receiver }: IntegrationKey & { receiver: string },
  { count, date }: { count: number; date: string },
): Promise<void> {
  await query(
    store.fork(),
    `update receiver_rates set tokens = tokens + $4,
       day_count = case when day = $5::date then greatest(0, day_count - $4) else day_count end
     where workspace_id = $1 and integration_id = $2 and receiver = coalesce((
       select receiver from receiver_rates
       where workspace_id = $1 and integration_id = $2 and receiver = $3
     ), '${sharedGroup}')`,
    [workspaceId, integrationId, receiver, count, date],
  );
}

/**
 * The receiver has asked for less mail: its group gets a tenth of what it gets now, and none at
 * once. Says whether that is so from now on. `begunMsAgo`: when the mail was begun that it
 * answered; a reply to one from before the rate fell says nothing of the present rate.
 */
export async function slowReceiver(
  store: Store,
  { workspaceId, integrationId, receiver }: IntegrationKey & { receiver: string },
  { perSecond, forMs, begunMsAgo }: { perSecond: number; forMs: number; begunMsAgo: number },
): Promise<boolean> {
  const rows = await query(
    store.fork(),
    `insert into receiver_rates as r (workspace_id, integration_id, receiver, per_second, tokens,
       granted, refused, day, day_count, replicas, slowed_to, slowed_at, eases_at, step_ms, updated_at)
     select $1, $2, $3, $4::float8, 0, 0, 0, 'epoch', 0, '{}', ${slowedTo}, clock_timestamp(),
       clock_timestamp() + $5::float8 * interval '1 millisecond', $5::float8 / 3, clock_timestamp()
     where exists (
       select from receiver_rates where workspace_id = $1 and integration_id = $2 and receiver = $3
     ) or (
       select count(*) from receiver_rates where workspace_id = $1 and integration_id = $2
     ) < ${rowsMax}
     on conflict (workspace_id, integration_id, receiver) do update set
       slowed_to = greatest(${share} * ${slowedTo}, least(1, ${leastPerSecond} / r.per_second)),
       slowed_at = excluded.slowed_at,
       eases_at = excluded.eases_at,
       step_ms = excluded.step_ms,
       tokens = 0,
       queue_until = null,
       updated_at = greatest(r.updated_at, excluded.updated_at)
     where r.slowed_at is null
       or r.slowed_at < clock_timestamp() - $6::float8 * interval '1 millisecond'
     returning 1`,
    [workspaceId, integrationId, receiver, perSecond, forMs, begunMsAgo],
  );
  return rows.length > 0;
}

/** The groups of an integration that get less mail at the moment. */
export async function findSlowed(
  store: Store,
  { workspaceId, integrationId }: IntegrationKey,
): Promise<Set<string>> {
  const rows = await query<{ receiver: string }>(
    store.fork(),
    `select receiver from receiver_rates r
     where workspace_id = $1 and integration_id = $2 and slowed_to is not null and ${share} < 1
     limit ${rowsMax}`,
    [workspaceId, integrationId],
  );
  return new Set(rows.map(({ receiver }) => receiver));
}
