import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { leaseMs, occurredAtSql, payloadSql } from '../delivery.ts';
import { isGatedSql, type SubscriptionKey } from '../subscription.ts';

/**
 * Callbacks begin within it after their endpoint was read. A change of an endpoint is answered when
 * it has passed since the commit, so that no process calls an endpoint that is disabled, or signs
 * with its old secret.
 */
export const beginMs = 1_000;
/**
 * For this long after the circuit has closed, claims are paced: one row each step at first, twice
 * as many every second.
 */
const pacedForSeconds = 8;
const paceStepMs = 100;

/** An endpoint, and how many deliveries of it may be claimed. */
export type Ask = { key: SubscriptionKey; slots: number };

export type ClaimedDelivery = {
  key: SubscriptionKey;
  id: string;
  type: string;
  /** A JSON text. */
  data: string;
  /** When the event happened. */
  timestamp: string;
  /** From 1. */
  attempt: number;
  /** Of what caused the event, where that is part of a sampled trace. */
  traceparent: string | null;
  url: string;
  sealedSecret: string;
  /** By the clock of `performance`: no callback begins later, unless the endpoint is read again. */
  beginByMs: number;
};

/** The claim at one endpoint; there is none for an endpoint that is gone or disabled. */
export type EndpointClaim = {
  key: SubscriptionKey;
  deliveries: ClaimedDelivery[];
  /** Time until it gives more, while it is paced. */
  waitMs: number;
};

type EndpointRow = {
  workspace_id: string;
  subscription_id: string;
  url: string;
  sealed_secret: string;
  wait_ms: number | null;
  timestamp: string;
  id: string | null;
  event_type: string;
  data: string;
  attempts: number;
  traceparent: string | null;
};

/** The database's clock, whatever the clock of a process says. */
const at = 'coalesce($4::timestamptz, now())';

/** SQL of whether no attempt of a pending delivery is open: its claim is over, or it has none. */
export const isWaitingSql = (time: string) =>
  `(attempts = 0 or next_attempt_at <= ${time}
    or next_attempt_at <> last_attempt_at + interval '${leaseMs} milliseconds')`;

const dueOf = (endpoint: string, kind: 'first' | 'retry') => `
  from deliveries
  where workspace_id = ${endpoint}.workspace_id and subscription_id = ${endpoint}.id and status = 'pending'
    and ${kind === 'first' ? 'attempts = 0' : `attempts > 0 and next_attempt_at <= ${at}`}`;

// An open circuit and a pace are a gate in the endpoint's row: the update lets one claim through,
// whoever makes it. Gates are locked in the order in which results lock their endpoints, so that
// the two never wait in a circle. A probe takes a delivery of any kind. With `offset 0` PostgreSQL
// looks each endpoint up, and does not read the deliveries of all endpoints into a hash first.
export const claimSql = `
  with known as materialized (
    select s.*, asked.slots
    from unnest($1::text[], $2::text[], $3::int[]) as asked (workspace_id, subscription_id, slots)
    cross join lateral (
      select workspace_id, id, url, sealed_secret, next_claim_at, ${isGatedSql} as is_gated
      from subscriptions
      where workspace_id = asked.workspace_id and id = asked.subscription_id and enabled
      offset 0
    ) s
  ), gates as materialized (
    select locked.* from (select * from known where is_gated order by workspace_id, id) gated
    cross join lateral (
      select workspace_id, id, gated.slots from subscriptions
      where workspace_id = gated.workspace_id and id = gated.id
        and coalesce(probe_at, next_claim_at, '-infinity') <= ${at}
      for no key update
    ) locked
  ), passed as (
    update subscriptions s set
      probe_at = case when s.probe_at is not null then ${at} + interval '${leaseMs} milliseconds' end,
      next_claim_at = case
        when s.recovered_at > ${at} - interval '${pacedForSeconds} seconds'
        then ${at} + interval '${paceStepMs} milliseconds'
      end,
      recovered_at = case
        when s.recovered_at > ${at} - interval '${pacedForSeconds} seconds' then s.recovered_at
      end
    from gates
    where s.workspace_id = gates.workspace_id and s.id = gates.id and s.enabled
      and coalesce(s.probe_at, s.next_claim_at, '-infinity') <= ${at}
      and (
        (($5 or s.probe_at is not null) and exists (select ${dueOf('s', 'first')} offset 0))
        or ((not $5 or s.probe_at is not null) and exists (select ${dueOf('s', 'retry')} offset 0))
      )
    returning s.workspace_id, s.id, s.probe_at is not null as is_probe, s.next_claim_at,
      case
        when s.probe_at is not null then 1
        when s.recovered_at is null then gates.slots
        else least(gates.slots, 2 ^ floor(extract(epoch from ${at} - s.recovered_at)))::int
      end as slots
  ), ready as materialized (
    select workspace_id, id, slots, false as is_probe from known where not is_gated
    union all
    select workspace_id, id, slots, is_probe from passed
  ), firsts as materialized (
    select ready.workspace_id, ready.id, due.place
    from ready cross join lateral (
      select ctid as place ${dueOf('ready', 'first')}
      order by created_at
      limit case when $5 or ready.is_probe then ready.slots else 0 end
      for update skip locked
    ) due
  ), retries as materialized (
    select due.place
    from ready cross join lateral (
      select ctid as place ${dueOf('ready', 'retry')}
      order by next_attempt_at
      limit case
        when ready.is_probe
        then (not exists (select from firsts where workspace_id = ready.workspace_id and id = ready.id))::int
        when $5 then 0 else ready.slots
      end
      for update skip locked
    ) due
  ), claimed as (
    update deliveries set attempts = attempts + 1, claimed_attempt = attempts + 1, last_attempt_at = ${at},
      next_attempt_at = ${at} + interval '${leaseMs} milliseconds'
    where ctid = any(array(select place from firsts union all select place from retries))
    returning workspace_id, subscription_id, id, event_type, payload, attempts, traceparent, occurred_at, created_at
  )
  select known.workspace_id, known.id as subscription_id, known.url, known.sealed_secret,
    case when known.is_gated
      then extract(epoch from coalesce(passed.next_claim_at, known.next_claim_at) - ${at})::float8 * 1000
    end as wait_ms,
    ${occurredAtSql('claimed')} as timestamp,
    claimed.id, claimed.event_type, ${payloadSql('claimed')}::text as data, claimed.attempts, claimed.traceparent
  from known
  left join passed on passed.workspace_id = known.workspace_id and passed.id = known.id
  left join claimed on claimed.workspace_id = known.workspace_id and claimed.subscription_id = known.id
  order by claimed.created_at, claimed.id`;

/**
 * Claims deliveries that are due: first attempts, or retries; the oldest of each endpoint. A claim
 * counts the attempt. While the circuit of an endpoint is open it gives one delivery of any kind,
 * at the time of the probe.
 */
export async function claimDue(
  store: Pick<Store, 'read'>,
  kind: 'first' | 'retry',
  asks: readonly Ask[],
  now: Date | undefined,
): Promise<EndpointClaim[]> {
  const beginByMs = performance.now() + beginMs;
  const rows = await store.read<EndpointRow>(claimSql, [
    asks.map(({ key }) => key.workspaceId),
    asks.map(({ key }) => key.id),
    asks.map(({ slots }) => slots),
    now?.toISOString() ?? null,
    kind === 'first',
  ]);
  const byEndpoint = Map.groupBy(rows, (row) => `${row.workspace_id}/${row.subscription_id}`);
  return [...byEndpoint.values()].map((each) => toClaim(each, beginByMs));
}

function toClaim(rows: EndpointRow[], beginByMs: number): EndpointClaim {
  const { workspace_id, subscription_id, url, sealed_secret: sealedSecret, wait_ms } = rows[0]!;
  const key = { workspaceId: workspace_id, id: subscription_id };
  const deliveries = rows.flatMap(
    ({ id, event_type: type, data, timestamp, attempts: attempt, traceparent }) =>
      id === null
        ? []
        : [{ key, id, type, data, timestamp, attempt, traceparent, url, sealedSecret, beginByMs }],
  );
  return { key, deliveries, waitMs: Math.max(wait_ms ?? 0, 0) };
}

export type ClaimedEndpoint = { url: string; sealedSecret: string; beginByMs: number };

/** Reads the endpoint of claims that have waited; undefined if it is disabled or gone. */
export async function readEndpoint(
  store: Pick<Store, 'read'>,
  { workspaceId, id }: SubscriptionKey,
): Promise<ClaimedEndpoint | undefined> {
  const beginByMs = performance.now() + beginMs;
  const [row] = await store.read<{ url: string; sealed_secret: string }>(
    'select url, sealed_secret from subscriptions where workspace_id = $1 and id = $2 and enabled',
    [workspaceId, id],
  );
  return row && { url: row.url, sealedSecret: row.sealed_secret, beginByMs };
}

/** Undoes claims of which nothing was sent. */
export async function giveBack(
  store: Store,
  claims: readonly Pick<ClaimedDelivery, 'key' | 'id' | 'attempt'>[],
  now: Date | undefined,
): Promise<void> {
  if (claims.length === 0) return;
  await query(
    store.fork(),
    `update deliveries d set attempts = d.attempts - 1, claimed_attempt = null, next_attempt_at = ${at},
       last_attempt_at = case when d.attempts > 1 then d.last_attempt_at end
     from unnest($1::text[], $2::uuid[], $3::int[]) as given (workspace_id, id, attempts)
     where d.workspace_id = given.workspace_id and d.id = given.id
       and d.attempts = given.attempts and d.status = 'pending'`,
    [
      claims.map(({ key }) => key.workspaceId),
      claims.map(({ id }) => id),
      claims.map(({ attempt }) => attempt),
      now?.toISOString() ?? null,
    ],
  );
}
