const validKey = /^[\x21-\x7e]{1,256}$/;

export const idempotencyKeyFault = 'Idempotency-Key must be 1 to 256 visible characters';

export function isIdempotencyKey(given: unknown): given is string {
  return typeof given === 'string' && validKey.test(given);
}
