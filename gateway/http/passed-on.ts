import { rateLimitNames } from '#lib/limits/rate-limit-header.ts';

/** Headers of a service's answer or error that the gateway passes on. */
export const passedOnNames = ['idempotency-replayed', ...rateLimitNames] as const;

export function passedOn(metadata: Headers): Record<string, string> {
  const found = passedOnNames.map((name) => [name, metadata.get(name)] as const);
  return Object.fromEntries(
    found.flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
}
