/** After so many attempts a delivery has failed. */
export const attemptsMax = 10;

/**
 * SQL of when the event of a delivery happened, to the microsecond, so that texts order as times do. Deliveries from before
 * version 0.3 have only their own time.
 */
export const occurredAtSql = (delivery: string) =>
  `to_char(coalesce(${delivery}.occurred_at, ${delivery}.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** The `last_error` of a delivery that is never attempted. */
export const payloadTooLarge = 'the payload is larger than 256 KiB';
