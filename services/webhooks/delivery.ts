import { randomBytes } from 'node:crypto';
import { orderedTimeSql } from '#lib/postgres/time-sql.ts';

/**
 * The payload of an event is stored once, in `events`. The id of an event ends in 0000; those of
 * its deliveries differ from it in these four digits only, so that each is found from the other by
 * the primary keys. Deliveries of version 0.2 have their payload themselves, as do those of an
 * event that is too large.
 */

/** A delivery has failed after this many attempts. */
export const attemptsMax = 10;

/** A claim is over after it; what its process has not recorded by then is a retry that is due. */
export const leaseMs = 30_000;

/** The `last_error` of a delivery that is never attempted. */
export const payloadTooLarge = 'the payload is larger than 256 KiB';

const ownDigits = 32;

/** A UUID of version 7: in the order of time, so that new rows are near each other in indexes. */
export function newEventId(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  bytes.writeUInt16BE(0, 14);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/**
 * The id of a delivery of an event; `number` counts its deliveries from 1, and is at most 65,535.
 */
export function deliveryIdOf(eventId: string, number: number): string {
  return eventId.slice(0, ownDigits) + number.toString(16).padStart(4, '0');
}

/** The lowest id that an event of a time can have. */
export function eventIdAt(time: Date): string {
  const hex = Math.max(time.getTime(), 0).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** SQL of the id of a delivery's event. */
export const eventIdSql = (delivery: string) => eventIdOfSql(`${delivery}.id`);

/** The same for the id of a delivery. */
export const eventIdOfSql = (deliveryId: string) =>
  `(left(${deliveryId}::text, ${ownDigits}) || '0000')::uuid`;

/** SQL of whether a delivery is one of an event of the same workspace. */
export const isOfEventSql = (delivery: string, event: string) =>
  `${delivery}.id between ${event}.id and (left(${event}.id::text, ${ownDigits}) || 'ffff')::uuid`;

/** SQL of a delivery's payload. */
export const payloadSql = (delivery: string) =>
  `coalesce(${delivery}.payload, (
    select payload from events
    where workspace_id = ${delivery}.workspace_id and id = ${eventIdSql(delivery)}
  ))`;

/**
 * SQL of the pending deliveries that meet a condition, as a table: first attempts and retries have
 * an index each.
 */
export const pendingSql = (condition: string) => {
  const part = (attempts: string) =>
    `select * from deliveries where ${condition} and status = 'pending' and ${attempts}`;
  return `(${part('attempts = 0')} union all ${part('attempts > 0')})`;
};

/**
 * SQL of the time of the event of a delivery. Deliveries from before
 * version 0.3 have only their own time.
 */
export const occurredAtSql = (delivery: string) =>
  orderedTimeSql(`coalesce(${delivery}.occurred_at, ${delivery}.created_at)`);
