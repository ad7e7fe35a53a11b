import type { ConnectError } from '@connectrpc/connect';
import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { canonicalNetwork } from '#lib/networks/networks.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';

const dayMs = 24 * 60 * 60_000;
/** Also the lifetime of keys from before an end could be chosen. */
export const keyDays = 10 * 365;
export const keysMax = 1_000;

export function keyNotFound(): ConnectError {
  return refusal('API_KEY_NOT_FOUND', 'API key not found');
}

/** When a new key ends. */
export function expiryOf(asked: Date | undefined, now: Date): Date {
  const latest = new Date(now.getTime() + keyDays * dayMs);
  const expiresAt = asked ?? latest;
  if (!(expiresAt > now && expiresAt <= latest)) {
    throw invalidField('expires_at', 'expires_at must be in the future and at most 10 years ahead');
  }
  return expiresAt;
}

/** Networks in the form they are stored in. */
export function networksOf(texts: readonly string[]): string[] {
  const networks = texts.map((text) => {
    const network = canonicalNetwork(text);
    if (network) return network;
    throw invalidField(
      'allowed_addresses',
      `allowed_addresses must hold IP addresses and networks such as 203.0.113.0/24, not ${text.slice(0, 50)}`,
    );
  });
  return [...new Set(networks)];
}

/** Records a token of a key and signs it. */
export async function issueToken(
  em: EntityManager,
  keyring: Keyring,
  { userId, expiresAt, now }: { userId: string; expiresAt: Date; now: Date },
): Promise<string> {
  const id = crypto.randomUUID();
  await query(em, 'insert into api_key_tokens (user_id, id) values ($1, $2)', [userId, id]);
  const seconds = Math.ceil((expiresAt.getTime() - now.getTime()) / 1000);
  return keyring.signToken({ type: 'api_key', subject: userId, sessionId: id }, seconds);
}
