import { setTimeout as sleep } from 'node:timers/promises';
import { toJson } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import type { Event } from '#gen/postrider/events/v1/events_pb.ts';
import { type ConsumedBatch, consumedStep } from '#lib/events/consume.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { deliveryIdOf, leaseMs, newEventId, occurredAtSql, payloadTooLarge } from '../delivery.ts';
import { nameOf } from '../subscription.ts';
import type { Match } from './match.ts';

const payloadMaxBytes = 256 * 1_024;

const at = 'coalesce($8::timestamptz, now())';

/**
 * Bounds a statement: one of these takes some hundred milliseconds. A batch with more deliveries
 * keeps its connection through the rests between its statements.
 */
export const rowsAtOnce = 5_000;
/** After each portion PostgreSQL is left to others for as long as it took, at most this long. */
const restMaxMs = 1_000;

// One statement, so that a call costs one round trip; each payload is in it once, however many
// subscriptions want it. Deliveries of a later batch are later, since claims take the oldest first.
const sqlOf = (fresh: string) => `
  with fresh as (${fresh}),
  event as materialized (
    select event.* from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $9::int[]) with ordinality
      as event (batch_id, workspace_id, id, type, data, occurred_at, traceparent, batch_place, place)
    join fresh on fresh.batch_id = event.batch_id
  ),
  kept as (
    insert into events (workspace_id, id, payload)
    select workspace_id, id, data::json from event where data is not null
  ),
  made as (
    insert into deliveries (workspace_id, id, subscription_id, event_type, payload, status, last_error, created_at, traceparent, occurred_at,
      next_attempt_at, last_attempt_at, attempts, claimed_attempt)
    select event.workspace_id, match.id, match.subscription_id, event.type,
      case when event.data is null then '{}'::json end,
      case when event.data is null then 'failed' when match.is_waiting then 'waiting' else 'pending' end,
      case when event.data is null then '${payloadTooLarge}' end,
      ${at} + event.batch_place * interval '1 microsecond', event.traceparent, event.occurred_at,
      case
        when event.data is null or match.is_waiting then null
        when match.is_claimed then ${at} + interval '${leaseMs} milliseconds'
        else ${at}
      end,
      case when match.is_claimed then ${at} end,
      match.is_claimed::int,
      case when match.is_claimed then 1 end
    from event
    join unnest($10::uuid[], $11::text[], $12::int[], $13::boolean[], $15::boolean[]) as match (id, subscription_id, place, is_claimed, is_waiting)
      on event.place = match.place
    returning *
  )
  select batch_id, null as id, null as timestamp from fresh
  union all
  select null, id, ${occurredAtSql('made')} from made where attempts > 0`;

/** Gives no row for a batch that was seen before. */
const sql = sqlOf(consumedStep('$14'));
const moreSql = sqlOf('select batch_id from unnest($14::uuid[]) batch_id');

/** A batch that was not seen before, or a delivery that was inserted as claimed. */
type InsertedRow =
  | { batch_id: string; id: null; timestamp: null }
  | { batch_id: null; id: string; timestamp: string };

/** A batch, and who wants which of its events. */
export type MatchedBatch = {
  batch: ConsumedBatch & { traceparent?: string | undefined };
  matches: readonly Match[];
};

/** A delivery that was inserted as claimed. */
export type NewClaim = {
  key: { workspaceId: string; id: string };
  id: string;
  type: string;
  data: string;
  timestamp: string;
  traceparent: string | null;
};

type Options = {
  now: Date | undefined;
  /** How many deliveries are inserted as claimed, by the names of subscriptions; the first ones. */
  claims?: ReadonlyMap<string, number>;
};

type BatchToInsert = MatchedBatch['batch'];

/** An event of a batch, with those that want it. */
type MatchedEvent = { batch: BatchToInsert; event: Event; matches: Match[] };

/**
 * Inserts the deliveries of batches, once for the id of each: in one statement, or in portions with
 * rests between them. Answers those that it has claimed.
 */
export async function insertDeliveries(
  store: Pick<Store, 'read' | 'fork'>,
  batches: readonly MatchedBatch[],
  { now, claims = new Map() }: Options,
): Promise<NewClaim[]> {
  const [first = [], ...others] = portionsOf(batches);
  const places = new Map(batches.map(({ batch }, place) => [batch.batchId, place]));
  const ids = [...places.keys()];
  const { values, claimed } = statementOf(first, { ids, places, now, claims });
  if (others.length === 0) {
    return claimed(await store.read<InsertedRow>(sql, values));
  }
  return store.fork().transactional(async (em) => {
    let beganAtMs = performance.now();
    const inserted = await query<InsertedRow>(em, sql, values);
    const fresh = new Set(inserted.map(({ batch_id }) => batch_id));
    for (const portion of others) {
      const left = portion.filter(({ batch }) => fresh.has(batch.batchId));
      if (left.length === 0) continue;
      await sleep(Math.min(performance.now() - beganAtMs, restMaxMs));
      beganAtMs = performance.now();
      await query(em, moreSql, statementOf(left, { ids, places, now, claims: new Map() }).values);
    }
    return claimed(inserted);
  });
}

/** Events in portions of about `rowsAtOnce` deliveries. */
function portionsOf(batches: readonly MatchedBatch[]): MatchedEvent[][] {
  const portions: MatchedEvent[][] = [];
  let rows = rowsAtOnce;
  for (const { batch, matches } of batches) {
    const byPlace = Map.groupBy(matches, ({ place }) => place);
    for (const place of [...byPlace.keys()].toSorted((a, b) => a - b)) {
      const own = byPlace.get(place)!;
      if (rows + own.length > rowsAtOnce) {
        portions.push([]);
        rows = 0;
      }
      rows += own.length;
      portions.at(-1)!.push({ batch, event: batch.events[place]!, matches: own });
    }
  }
  return portions;
}

type Statement = {
  ids: readonly string[];
  /** Of batches, by their ids. */
  places: ReadonlyMap<string, number>;
  now: Date | undefined;
  claims: ReadonlyMap<string, number>;
};

/** The values of a statement, and what it has claimed by the rows that it gives. */
function statementOf(
  portion: readonly MatchedEvent[],
  { ids, places, now, claims }: Statement,
): { values: unknown[]; claimed: (rows: readonly InsertedRow[]) => NewClaim[] } {
  const left = new Map(claims);
  const toClaim = new Map<string, Omit<NewClaim, 'timestamp'>>();
  const events = portion.map(({ batch, event: { type, dataJson, occurredAt } }) => {
    const isTooLarge = Buffer.byteLength(dataJson) > payloadMaxBytes;
    const data = isTooLarge ? null : dataJson;
    return { batch, id: newEventId(), type, data, occurredAt };
  });
  const deliveries = portion.flatMap(({ batch, matches }, index) =>
    matches.map(({ subscriptionId, isWaiting }, number) => {
      const { id: eventId, type, data } = events[index]!;
      const key = { workspaceId: batch.workspaceId, id: subscriptionId };
      const id = deliveryIdOf(eventId, number + 1);
      const room = left.get(nameOf(key)) ?? 0;
      const isClaimed = data !== null && room > 0;
      if (isClaimed) {
        left.set(nameOf(key), room - 1);
        const traceparent = batch.traceparent ?? null;
        toClaim.set(id, { key, id, type, data, traceparent });
      }
      return { id, subscriptionId, place: index + 1, isClaimed, isWaiting };
    }),
  );
  const values = [
    events.map(({ batch }) => batch.batchId),
    events.map(({ batch }) => batch.workspaceId),
    events.map(({ id }) => id),
    events.map(({ type }) => type),
    events.map(({ data }) => data),
    events.map(({ occurredAt }) => (occurredAt ? toJson(TimestampSchema, occurredAt) : null)),
    events.map(({ batch }) => batch.traceparent ?? null),
    now?.toISOString() ?? null,
    events.map(({ batch }) => places.get(batch.batchId)),
    deliveries.map(({ id }) => id),
    deliveries.map(({ subscriptionId }) => subscriptionId),
    deliveries.map(({ place }) => place),
    deliveries.map(({ isClaimed }) => isClaimed),
    ids,
    deliveries.map(({ isWaiting }) => isWaiting),
  ];
  const claimed = (rows: readonly InsertedRow[]) =>
    rows.flatMap(({ id, timestamp }) => {
      const claim = id === null ? undefined : toClaim.get(id);
      return claim && timestamp !== null ? [{ ...claim, timestamp }] : [];
    });
  return { values, claimed };
}
