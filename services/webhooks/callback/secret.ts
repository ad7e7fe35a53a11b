import { randomBytes } from 'node:crypto';
import { LruMap } from '#lib/collections/lru-map.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { Mac } from '#lib/keys/mac.ts';
import { signerOf } from '#lib/keys/webhook-signature.ts';
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

/** Of endpoints that get many callbacks: to open a secret takes as long as to sign. */
const signersMax = 1_000;
const signers = new WeakMap<Keyring, LruMap<Mac>>();

/** Signs callbacks by a sealed secret. Throws if it can't be opened. */
export function openSigner(keyring: Keyring, key: SubscriptionKey, sealed: string): Mac {
  const known = signers.get(keyring) ?? new LruMap<Mac>({ max: signersMax });
  signers.set(keyring, known);
  // A secret that was sealed for another place is not opened.
  const name = `${key.workspaceId} ${key.id} ${sealed}`;
  const signer = known.get(name) ?? signerOf(openSecret(keyring, key, sealed));
  known.set(name, signer);
  return signer;
}

/** Whether it is sealed by the key that is in use now. */
export function isSealedNow(keyring: Keyring, workspaceId: string, sealed: string): boolean {
  return keyring.isCurrent(webhookSecrets, sealed, workspaceId);
}
