import { toJson } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import type { ConsumeEventsRequest } from '#gen/postrider/events/v1/events_pb.ts';
import { consumedStep } from '#lib/jobs/consume.ts';
import type { Store } from '#lib/postgres/store.ts';
import { sampledTraceparent } from '#lib/telemetry/tracing.ts';
import { deliveryIdOf, newEventId, payloadTooLarge } from '../delivery.ts';
import type { Match } from './match.ts';

const payloadMaxBytes = 256 * 1_024;

const at = 'coalesce($9::timestamptz, now())';

// One statement, so that a batch costs one round trip; each payload is in it once, however many subscriptions want it.
const sql = `
  with fresh as (${consumedStep('$1')}),
  event as materialized (
    select event.* from fresh
    cross join unnest($3::uuid[], $4::text[], $5::text[], $6::timestamptz[]) with ordinality
      as event (id, type, data, occurred_at, place)
  ),
  kept as (
    insert into events (workspace_id, id, payload)
    select $2, id, data::json from event where data is not null
  )
  insert into deliveries (workspace_id, id, subscription_id, event_type, payload, status, next_attempt_at, last_error, created_at, traceparent, occurred_at)
  select $2, match.id, match.subscription_id, event.type,
    case when event.data is null then '{}'::json end,
    case when event.data is null then 'failed' else 'pending' end,
    case when event.data is not null then ${at} end,
    case when event.data is null then '${payloadTooLarge}' end,
    ${at}, $10, event.occurred_at
  from event
  join unnest($7::uuid[], $8::text[], $11::int[]) as match (id, subscription_id, place)
    on event.place = match.place`;

type Batch = Pick<ConsumeEventsRequest, 'workspaceId' | 'batchId' | 'events'>;

/** Inserts the deliveries of a batch, once for its id. */
export async function insertDeliveries(
  store: Pick<Store, 'read'>,
  { workspaceId, batchId, events }: Batch,
  { matches, now }: { matches: readonly Match[]; now: Date | undefined },
): Promise<void> {
  const places = [...new Set(matches.map(({ place }) => place))];
  const wanted = places.map((place, index) => {
    const { type, dataJson, occurredAt } = events[place]!;
    const isTooLarge = Buffer.byteLength(dataJson) > payloadMaxBytes;
    const id = newEventId();
    return {
      id,
      type,
      data: isTooLarge ? null : dataJson,
      occurredAt,
      newPlace: index + 1,
      deliveries: 0,
    };
  });
  const byPlace = new Map(wanted.map((event, index) => [places[index], event]));
  const deliveries = matches.map(({ place, subscriptionId }) => {
    const event = byPlace.get(place)!;
    event.deliveries += 1;
    const id = deliveryIdOf(event.id, event.deliveries);
    return { id, subscriptionId, place: event.newPlace };
  });
  await store.read(sql, [
    batchId,
    workspaceId,
    wanted.map(({ id }) => id),
    wanted.map(({ type }) => type),
    wanted.map(({ data }) => data),
    wanted.map(({ occurredAt }) => (occurredAt ? toJson(TimestampSchema, occurredAt) : null)),
    deliveries.map(({ id }) => id),
    deliveries.map(({ subscriptionId }) => subscriptionId),
    now?.toISOString() ?? null,
    sampledTraceparent() ?? null,
    deliveries.map(({ place }) => place),
  ]);
}
