import { setImmediate as nextTurn } from 'node:timers/promises';
import { toJson } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import type { ConsumeEventsRequest, Event } from '#gen/postrider/events/v1/events_pb.ts';
import { consumedStep } from '#lib/events/consume.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { sampledTraceparent } from '#lib/telemetry/tracing.ts';
import { deliveryIdOf, newEventId, payloadTooLarge } from '../delivery.ts';
import type { Match } from './match.ts';

const payloadMaxBytes = 256 * 1_024;

const at = 'coalesce($9::timestamptz, now())';

/** Bounds a statement: one of these takes some hundred milliseconds. */
const rowsAtOnce = 5_000;

// One statement, so that a batch costs one round trip; each payload is in it once, however many
// subscriptions want it.
const sqlOf = (fresh: string) => `
  with fresh as (${fresh}),
  event as materialized (
    select event.* from fresh
    cross join unnest($3::uuid[], $4::text[], $5::text[], $6::timestamptz[]) with ordinality
      as event (id, type, data, occurred_at, place)
  ),
  kept as (
    insert into events (workspace_id, id, payload)
    select $2, id, data::json from event where data is not null
  ),
  made as (
    insert into deliveries (workspace_id, id, subscription_id, event_type, payload, status, next_attempt_at, last_error, created_at, traceparent, occurred_at)
    select $2, match.id, match.subscription_id, event.type,
      case when event.data is null then '{}'::json end,
      case when event.data is null then 'failed' else 'pending' end,
      case when event.data is not null then ${at} end,
      case when event.data is null then '${payloadTooLarge}' end,
      ${at}, $10, event.occurred_at
    from event
    join unnest($7::uuid[], $8::text[], $11::int[]) as match (id, subscription_id, place)
      on event.place = match.place
  )
  select from fresh`;

/** Gives no row for a batch that was seen before. */
const sql = sqlOf(consumedStep('$1'));
const moreSql = sqlOf('select where $1::uuid is not null');

type Batch = Pick<ConsumeEventsRequest, 'workspaceId' | 'batchId' | 'events'>;

/** An event of a batch, with the subscriptions that want it. */
type Wanted = { event: Event; subscriptionIds: string[] };

/**
 * Inserts the deliveries of a batch, once for its id: in one statement, or in portions with a turn
 * for others between them.
 */
export async function insertDeliveries(
  store: Pick<Store, 'read' | 'fork'>,
  batch: Batch,
  { matches, now }: { matches: readonly Match[]; now: Date | undefined },
): Promise<void> {
  const [first = [], ...others] = portionsOf(batch.events, matches);
  if (others.length === 0) {
    await store.read(sql, valuesOf(batch, first, now));
    return;
  }
  await store.fork().transactional(async (em) => {
    const fresh = await query(em, sql, valuesOf(batch, first, now));
    if (fresh.length === 0) return;
    for (const portion of others) {
      await nextTurn();
      await query(em, moreSql, valuesOf(batch, portion, now));
    }
  });
}

/** Events in portions of about `rowsAtOnce` deliveries. */
function portionsOf(events: readonly Event[], matches: readonly Match[]): Wanted[][] {
  const byPlace = new Map<number, string[]>();
  for (const { place, subscriptionId } of matches) {
    const known = byPlace.get(place);
    if (known) known.push(subscriptionId);
    else byPlace.set(place, [subscriptionId]);
  }
  const portions: Wanted[][] = [];
  let rows = rowsAtOnce;
  for (const [place, subscriptionIds] of byPlace) {
    if (rows + subscriptionIds.length > rowsAtOnce) {
      portions.push([]);
      rows = 0;
    }
    rows += subscriptionIds.length;
    portions.at(-1)!.push({ event: events[place]!, subscriptionIds });
  }
  return portions;
}

function valuesOf(
  { batchId, workspaceId }: Batch,
  portion: readonly Wanted[],
  now: Date | undefined,
): unknown[] {
  const events = portion.map(({ event: { type, dataJson, occurredAt } }) => {
    const isTooLarge = Buffer.byteLength(dataJson) > payloadMaxBytes;
    return { id: newEventId(), type, data: isTooLarge ? null : dataJson, occurredAt };
  });
  const deliveries = portion.flatMap(({ subscriptionIds }, index) =>
    subscriptionIds.map((subscriptionId, number) => ({
      id: deliveryIdOf(events[index]!.id, number + 1),
      subscriptionId,
      place: index + 1,
    })),
  );
  return [
    batchId,
    workspaceId,
    events.map(({ id }) => id),
    events.map(({ type }) => type),
    events.map(({ data }) => data),
    events.map(({ occurredAt }) => (occurredAt ? toJson(TimestampSchema, occurredAt) : null)),
    deliveries.map(({ id }) => id),
    deliveries.map(({ subscriptionId }) => subscriptionId),
    now?.toISOString() ?? null,
    sampledTraceparent() ?? null,
    deliveries.map(({ place }) => place),
  ];
}
