import { createDecipheriv } from 'node:crypto';
import { cannotOpen } from './box.ts';
import { deriveKey } from './derive.ts';
import { type ClockWatch, type Verified, verifyWith } from './tokens.ts';

/**
 * `SECRET_KEY`: signs in roots, and until all processes had keys of their own it was the source of
 * every key. It may list several: the first is in use, the others are old.
 */
export function readSecretKey(secretKey: string): readonly string[] {
  const secrets = secretKey.split(',').filter((secret) => secret !== '');
  if (secrets.length === 0) throw new Error('SECRET_KEY is empty');
  const [first = '', ...others] = secrets;
  if (others.some((secret) => secret.length < 16)) {
    throw new Error('every key of SECRET_KEY must be at least 16 characters');
  }
  if (first.length < 32) {
    throw new Error('SECRET_KEY must be at least 32 characters; a shorter key may follow a comma');
  }
  if (new Set(first).size === 1) {
    throw new Error('SECRET_KEY must not be one character over and over');
  }
  return secrets;
}

/**
 * Verifies tokens of people and API keys (HS256) from before workspaces signed them with Ed25519.
 */
export function oldTokenVerifier(
  secrets: readonly string[],
  watch: ClockWatch,
): (token: string) => Promise<Verified | undefined> {
  const keys = secrets.map((secret) => deriveKey(secret, 'postrider/tokens'));
  return async (token) => {
    for (const key of keys) {
      const verified = await verifyWith(token, key, watch, { algorithms: ['HS256'] });
      if (verified) return verified.claims.type === 'service' ? undefined : verified;
    }
    return undefined;
  };
}

/** The keys that opened stored credentials, whatever service they were of. */
export function oldCredentialKeys(secrets: readonly string[]): Buffer[] {
  return secrets.map((secret) => deriveKey(secret, 'postrider/credentials'));
}

/** The keys of a workspace's boxes for one purpose. */
export function oldBoxKeys(
  secrets: readonly string[],
  purpose: string,
  workspaceId: string,
): Buffer[] {
  return secrets.map((secret) => deriveKey(secret, `postrider/boxes/${purpose}/${workspaceId}`));
}

const ivSizeBytes = 12;
const tagSizeBytes = 16;

/** Opens a credential that was sealed by one of those keys, for no place in particular. */
export function openOldCredential(keys: readonly Buffer[], text: string): string {
  const bytes = Buffer.from(text, 'base64');
  const iv = bytes.subarray(0, ivSizeBytes);
  const tag = bytes.subarray(ivSizeBytes, ivSizeBytes + tagSizeBytes);
  for (const key of keys) {
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, iv, {
        authTagLength: tagSizeBytes,
      }).setAuthTag(tag);
      const sealed = bytes.subarray(ivSizeBytes + tagSizeBytes);
      return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8');
    } catch {
      // Another key may have sealed it.
    }
  }
  throw cannotOpen();
}
