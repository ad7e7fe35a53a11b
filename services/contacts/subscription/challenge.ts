/*
 * Proof of work for the public form, by ALTCHA.
 *
 * A challenge is signed, and nothing of it is stored. Its key is derived from the service's
 * identity and the workspace, so that all replicas know it and no other workspace's challenge
 * counts. The browser has to find a number between `countersMin` and twice that by trying all of
 * them; each costs it `cost` rounds of PBKDF2. A challenge costs us one such try, a solution two
 * HMACs, and a forged one one HMAC.
 */

import { createChallenge, HmacAlgorithm, randomInt, verifySolution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import type { Challenge, Payload } from 'altcha-lib/types';
import { LruMap } from '#lib/collections/lru-map.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { Mac } from '#lib/keys/mac.ts';

/** A verified solution. Its challenge is known by its nonce. */
export type Solution = {
  nonce: Buffer;
  expiresAt: Date;
  /** A MAC of a form, which tells its repeat from another form with the same solution. */
  markOf(form: { email: string; listIds: readonly string[] }): Buffer;
};

export type Challenges = {
  create(workspaceId: string): Promise<Challenge>;
  /** Refuses what is not a solution of a challenge for the workspace, or has expired. */
  verify(workspaceId: string, altcha: string): Promise<Solution>;
  /** Counts a form of the workspace, for the work that its next challenges ask for. */
  countForm(workspaceId: string): void;
};

const challengeMs = 5 * 60_000;
/** A try takes about 60 µs: much more than the browser's overhead, and little for us. */
const cost = 200;
/** About a third of a second of one core, which a browser spreads over its workers. */
const countersMin = 2_500;
/**
 * More forms than these within a minute double the work, each: a flood pays for itself, and eight
 * times the work is a few seconds of a phone.
 */
const floods = [10, 100, 1_000];
const minuteMs = 60_000;
const countedMax = 1_000;

const purpose = 'postrider/form-challenges';
const nonceForm = /^[0-9a-f]{32}$/;
const wrong = 'altcha is not a solution of a challenge for this workspace';

export function createChallenges({
  keyring,
  now,
}: {
  keyring: Pick<Keyring, 'ownKeys'>;
  now: () => Date;
}): Challenges {
  const { macs } = keyring.ownKeys(purpose);
  // Of this process alone: no call waits for a count.
  const forms = new LruMap<number>({
    ...{ max: countedMax, ttl: minuteMs, noUpdateTTL: true },
    perf: { now: () => now().getTime() },
  });
  return {
    async create(workspaceId) {
      const [mac] = macs;
      if (!mac) throw new Error('the service has no key');
      const recent = forms.get(workspaceId) ?? 0;
      const least = countersMin * 2 ** floods.filter((count) => recent > count).length;
      return createChallenge({
        ...{ algorithm: 'PBKDF2/SHA-256', cost, deriveKey },
        counter: randomInt(2 * least, least),
        expiresAt: new Date(now().getTime() + challengeMs),
        ...secretsOf(mac, workspaceId),
      });
    },
    async verify(workspaceId, altcha) {
      if (altcha === '') throw invalidField('altcha', 'altcha is required');
      const payload = payloadOf(altcha);
      const mac = payload && (await signerOf(payload, macs, workspaceId));
      if (!mac) throw invalidField('altcha', wrong);
      const { nonce, expiresAt = 0 } = payload.challenge.parameters;
      const expiry = new Date(expiresAt * 1_000);
      if (expiry <= now()) throw invalidField('altcha', 'altcha has expired');
      return {
        nonce: Buffer.from(nonce, 'hex'),
        expiresAt: expiry,
        markOf: ({ email, listIds }) =>
          mac(Buffer.from(JSON.stringify([workspaceId, nonce, email, listIds.toSorted()]))),
      };
    },
    countForm(workspaceId) {
      forms.set(workspaceId, (forms.get(workspaceId) ?? 0) + 1);
    },
  };
}

/** Keys of one workspace: of its challenges, and of their results. */
function secretsOf(mac: Mac, workspaceId: string) {
  const secret = (use: string) => mac(Buffer.from(`${use}\0${workspaceId}`)).toString('hex');
  return { hmacSignatureSecret: secret('challenge'), hmacKeySignatureSecret: secret('result') };
}

/** The key by which the challenge was made; undefined if there is none, or it is not solved. */
async function signerOf(
  { challenge, solution }: Payload,
  macs: readonly Mac[],
  workspaceId: string,
): Promise<Mac | undefined> {
  for (const mac of macs) {
    const { verified, invalidSignature } = await verifySolution({
      ...{ challenge, solution, deriveKey, hmacAlgorithm: HmacAlgorithm.SHA_256 },
      ...secretsOf(mac, workspaceId),
    });
    if (!invalidSignature) return verified ? mac : undefined;
  }
  return undefined;
}

/** A payload of the widget, with the parts that are read before the signature is checked. */
function payloadOf(altcha: string): Payload | undefined {
  const payload = jsonOf(Buffer.from(altcha, 'base64').toString('utf8'));
  const { signature, parameters } = payload?.challenge ?? {};
  const { nonce, expiresAt } = parameters ?? {};
  const isWhole =
    typeof signature === 'string' &&
    typeof nonce === 'string' &&
    nonceForm.test(nonce) &&
    typeof expiresAt === 'number';
  return isWhole ? payload : undefined;
}

function jsonOf(text: string): Payload | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
