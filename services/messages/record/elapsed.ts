/**
 * A parameter with the milliseconds since a moment, read when its statement is sent: the wait for a
 * connection is part of them.
 * `now` and the moment are by the same clock.
 */
export function elapsedSince(atMs: number, now: () => number): { toPostgres(): string } {
  return { toPostgres: () => String(Math.max(0, now() - atMs)) };
}
