/** A limit and what is left of it. */
export type RateLimit = {
  /** The policy's name: lower-case letters and hyphens. */
  policy: string;
  /** Requests that a window allows. */
  quota: number;
  windowMs: number;
  remaining: number;
  /** Until the quota is whole again, or, if nothing remains, until something does. */
  resetMs: number;
};

/** The fields of draft-ietf-httpapi-ratelimit-headers-10, as header fields and as metadata. */
export const rateLimitNames = ['ratelimit-policy', 'ratelimit'] as const;

/** Sets the RateLimit header fields. */
export function setRateLimit(
  header: Headers,
  { policy, quota, windowMs, remaining, resetMs }: RateLimit,
): void {
  const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1_000));
  header.set('ratelimit-policy', `"${policy}";q=${quota};w=${seconds(windowMs)}`);
  header.set('ratelimit', `"${policy}";r=${remaining};t=${seconds(resetMs)}`);
}
