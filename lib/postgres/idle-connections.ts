/**
 * How long a connection stays that nobody uses. A new one costs both ends tens of milliseconds and
 * has planned nothing, and a pool that grows opens many at once: those that a burst needed stay for
 * the next one.
 */
export const idleMaxMs = 10 * 60_000;
