import { hkdfSync } from 'node:crypto';

const keySizeBytes = 32;

/** Each purpose has its own key, derived from the secret. */
export function deriveKey(secret: string | Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, keySizeBytes));
}
