import { orderedTimeSql } from '#lib/postgres/time-sql.ts';

/** After so many attempts a delivery has failed. */
export const attemptsMax = 10;

/**
 * SQL of the time of the event of a delivery. Deliveries from before
 * version 0.3 have only their own time.
 */
export const occurredAtSql = (delivery: string) =>
  orderedTimeSql(`coalesce(${delivery}.occurred_at, ${delivery}.created_at)`);

/** The `last_error` of a delivery that is never attempted. */
export const payloadTooLarge = 'the payload is larger than 256 KiB';
