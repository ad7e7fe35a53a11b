import { randomBytes } from 'node:crypto';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { SubscriptionKey } from '../subscription.ts';

/** A secret of Standard Webhooks: the key of the signature is the decoded bytes. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

const webhookSecrets = 'webhook-secrets';

const placeOf = ({ workspaceId, id }: SubscriptionKey) => ({
  workspaceId,
  row: id,
  column: 'sealed_secret',
});

export function sealSecret(keyring: Keyring, key: SubscriptionKey, secret: string): string {
  return keyring.seal(webhookSecrets, secret, placeOf(key));
}

export function openSecret(keyring: Keyring, key: SubscriptionKey, sealed: string): string {
  return keyring.open(webhookSecrets, sealed, placeOf(key));
}

/** Whether it is sealed by the key that is in use now. */
export function isSealedNow(keyring: Keyring, workspaceId: string, sealed: string): boolean {
  return keyring.isCurrent(webhookSecrets, sealed, workspaceId);
}
