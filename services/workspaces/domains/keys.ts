import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { Code } from '@connectrpc/connect';
import { retryLater } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { signingKeyPlace } from '#lib/keys/places.ts';
import { ConcurrencyLimiter } from '#lib/limits/concurrency-limiter.ts';
import { countAttempt } from '#lib/postgres/attempts.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import { type Algorithm, type Domain, DomainKey, keyHost, keysOfDomainMax } from './domain.ts';

const generate = promisify(generateKeyPair);

/** The least that receivers accept without doubt, and the most that one TXT record carries well. */
const rsaBits = 2048;
/** Of the DER of an Ed25519 key; the rest of it is the same for all. */
const ed25519Bytes = 32;

/** A key of a workspace takes 0.1 s and more; each takes one of the process's four threads. */
const makers = new ConcurrencyLimiter({
  ...{ places: 2, aloneMax: 1 },
  ...{ tenantWaitingMax: 64, waitMaxMs: 10_000 },
});
const selectorBytes = 4;
const keysPerMinute = 60;
const minuteMs = 60_000;

export type NewKey = {
  selector: string;
  algorithm: Algorithm;
  public_key: string;
  sealed_private_key: string;
};

export type SigningPair = { publicKey: Buffer; privateKey: Buffer };

type Making = {
  store: Store;
  keyring: Keyring;
  now: () => Date;
  makePair: (algorithm: Algorithm) => Promise<SigningPair>;
};

/**
 * Makes a key of each algorithm; only messages can open the private half. Selectors are random: a
 * resolver may still remember an earlier key of the domain, and another workspace may have the same
 * domain.
 */
export async function makeKeys(
  { store, keyring, now, makePair }: Making,
  { workspaceId, name }: { workspaceId: string; name: string },
  wanted: readonly Algorithm[],
): Promise<NewKey[]> {
  const keys: NewKey[] = [];
  for (const algorithm of wanted) {
    await admitKey(store, workspaceId, now());
    const leave = await makers.enter(workspaceId, AbortSignal.timeout(minuteMs));
    try {
      const selector = `pr${randomBytes(selectorBytes).toString('hex')}`;
      const { publicKey, privateKey } = await makePair(algorithm);
      const place = signingKeyPlace(workspaceId, name, selector);
      keys.push({
        ...{ selector, algorithm, public_key: publicKey.toString('base64') },
        sealed_private_key: keyring.letters.seal(privateKey.toString('base64'), place),
      });
    } finally {
      leave();
    }
  }
  return keys;
}

export function checkRoomForKeys(keys: readonly DomainKey[], more: number): void {
  if (more === 0 || keys.length + more <= keysOfDomainMax) return;
  throw refusal(
    'DOMAIN_KEY_STATE',
    `a domain has at most ${keysOfDomainMax} keys; those of before go by themselves`,
  );
}

/** Adds keys that were made for a domain. They wait to be found. */
export function addKeys(
  em: EntityManager,
  { workspace_id, name: domain }: Domain,
  keys: readonly NewKey[],
  at: Date,
): DomainKey[] {
  return keys.map((key) =>
    em.create(DomainKey, {
      ...{ workspace_id, host: keyHost(key.selector, domain), domain, ...key },
      ...{ state: 'waiting', since: at, created_at: at },
    }),
  );
}

/** A new pair, as it is published and as it is sealed. */
export async function newPair(algorithm: Algorithm): Promise<SigningPair> {
  const made =
    algorithm === 'rsa'
      ? await generate('rsa', { modulusLength: rsaBits })
      : await generate('ed25519');
  const publicKey = made.publicKey.export({ type: 'spki', format: 'der' });
  return {
    publicKey: algorithm === 'rsa' ? publicKey : publicKey.subarray(-ed25519Bytes),
    privateKey: made.privateKey.export({ type: 'pkcs8', format: 'der' }),
  };
}

async function admitKey(store: Store, workspaceId: string, at: Date): Promise<void> {
  const limit = {
    key: `domain keys ${workspaceId}`,
    ...{ attemptsMax: keysPerMinute, windowMs: minuteMs },
  };
  const { isExhausted, resetMs } = await countAttempt(store, [limit], at);
  if (!isExhausted) return;
  throw retryLater('too many keys were made for this workspace', Code.ResourceExhausted, resetMs);
}
