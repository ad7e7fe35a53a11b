/** Headers of a service's answer or error that the gateway passes on. */
export const passedOnNames = [
  'idempotency-replayed',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
] as const;

export function passedOn(metadata: Headers): Record<string, string> {
  const found = passedOnNames.map((name) => [name, metadata.get(name)] as const);
  return Object.fromEntries(
    found.flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
}
