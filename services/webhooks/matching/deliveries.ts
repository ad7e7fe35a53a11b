import { randomBytes } from 'node:crypto';
import { toJson } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import type { ConsumeEventsRequest } from '#gen/postrider/events/v1/events_pb.ts';
import { consumedStep } from '#lib/jobs/consume.ts';
import type { Store } from '#lib/postgres/store.ts';
import { sampledTraceparent } from '#lib/telemetry/tracing.ts';
import { payloadTooLarge } from '../delivery.ts';
import type { Match } from './match.ts';

const payloadMaxBytes = 256 * 1_024;

const at = 'coalesce($9::timestamptz, now())';

// One statement, so that a batch costs one round trip; each payload is in it once, however many subscriptions want it.
const sql = `
  with fresh as (${consumedStep('$1')})
  insert into deliveries (workspace_id, id, subscription_id, event_type, payload, status, next_attempt_at, last_error, created_at, traceparent, occurred_at)
  select $2, match.id, match.subscription_id, event.type, event.data::json,
    case when event.is_too_large then 'failed' else 'pending' end,
    case when not event.is_too_large then ${at} end,
    case when event.is_too_large then '${payloadTooLarge}' end,
    ${at}, $10, event.occurred_at
  from fresh
  cross join unnest($3::uuid[], $4::text[], $5::int[]) as match (id, subscription_id, place)
  join unnest($6::text[], $7::text[], $8::bool[], $11::timestamptz[]) with ordinality
    as event (type, data, is_too_large, occurred_at, place)
    on event.place = match.place`;

/** Inserts the deliveries of a batch, once for its id. */
export async function insertDeliveries(
  store: Pick<Store, 'read'>,
  { workspaceId, batchId, events }: ConsumeEventsRequest,
  { matches, now }: { matches: readonly Match[]; now: Date | undefined },
): Promise<void> {
  const places = [...new Set(matches.map(({ place }) => place))];
  const newPlaces = new Map(places.map((place, newPlace) => [place, newPlace + 1]));
  const wanted = places.map((place) => {
    const { type, dataJson, occurredAt } = events[place]!;
    const isTooLarge = Buffer.byteLength(dataJson) > payloadMaxBytes;
    return { type, data: isTooLarge ? '{}' : dataJson, isTooLarge, occurredAt };
  });
  await store.read(sql, [
    batchId,
    workspaceId,
    matches.map(() => timeOrderedId()),
    matches.map(({ subscriptionId }) => subscriptionId),
    matches.map(({ place }) => newPlaces.get(place)),
    wanted.map(({ type }) => type),
    wanted.map(({ data }) => data),
    wanted.map(({ isTooLarge }) => isTooLarge),
    now?.toISOString() ?? null,
    sampledTraceparent() ?? null,
    wanted.map(({ occurredAt }) => (occurredAt ? toJson(TimestampSchema, occurredAt) : null)),
  ]);
}

/** A UUID of version 7: in the order of time, so that new rows are near each other in indexes. */
function timeOrderedId(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
