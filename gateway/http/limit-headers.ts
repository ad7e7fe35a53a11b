import { rateLimitNames } from '#lib/limits/rate-limit-header.ts';

/** Headers of a service's answer or error that the gateway passes on. */
export const passedOnNames = ['idempotency-replayed', ...rateLimitNames] as const;

export function passedOn(metadata: Headers): Record<string, string> {
  const found = passedOnNames.map((name) => [name, metadata.get(name)] as const);
  return Object.fromEntries(
    found.flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
}

/** `Retry-After` in whole seconds, at least one: clients expect no fractions. */
export function retryAfter(delayMs: number): Record<string, string> {
  return { 'retry-after': Math.max(1, Math.ceil(delayMs / 1_000)).toString() };
}
