import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { SendingDomain, SigningKey } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { signingKeyPlace } from '#lib/keys/places.ts';
import type { PrivateKey, SigningDomain } from './signature.ts';

/** The keys of a domain, and the selectors of those that cannot be used. */
export type OpenedKeys = { domain: SigningDomain; unusable: readonly string[] };

/** As many keys as there are algorithms; a mail has room for no more signatures. */
const keysMax = 2;

/** Opens the keys of a domain, which only this service can. One of them may be at fault. */
export function openKeys(
  { letters }: Pick<Keyring, 'letters'>,
  workspaceId: string,
  { name, signingKeys }: SendingDomain,
): OpenedKeys {
  const keys: PrivateKey[] = [];
  const unusable: string[] = [];
  for (const given of signingKeys.slice(0, keysMax)) {
    const place = signingKeyPlace(workspaceId, name, given.selector);
    const key = privateKeyOf(given, () => letters.open(given.sealedPrivateKey, place));
    if (key) keys.push(key);
    else unusable.push(given.selector);
  }
  return { domain: { name, keys }, unusable };
}

/** The sealed text is the DER in base64. Undefined for a key of any other kind or size. */
function privateKeyOf(
  { selector, algorithm }: SigningKey,
  open: () => string,
): PrivateKey | undefined {
  let key: KeyObject;
  try {
    const der = Buffer.from(open(), 'base64');
    key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } catch {
    return undefined;
  }
  if (key.asymmetricKeyType !== algorithm) return undefined;
  if (algorithm === 'ed25519') return { selector, algorithm, key };
  const isRsa = algorithm === 'rsa' && key.asymmetricKeyDetails?.modulusLength === rsaBits;
  return isRsa ? { selector, algorithm, key } : undefined;
}

const rsaBits = 2_048;
