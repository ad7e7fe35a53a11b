import { generateKeyPairSync } from 'node:crypto';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import type { SendingDomain, SigningKey } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { signingKeyPlace } from '#lib/keys/places.ts';
import { rsaPair } from '../../../test/setup/rsa-pair.ts';
import { keyring } from '../../../test/setup/service.ts';
import type { PrivateKey } from '../dkim/signature.ts';

export type Algorithm = PrivateKey['algorithm'];

/** TXT records by name, as a DNS server would answer them. */
export type Records = Map<string, string>;

export type GivenDomain = Pick<SendingDomain, 'name'> & {
  signingKeys: Pick<SigningKey, 'selector' | 'algorithm' | 'sealedPrivateKey'>[];
} & Partial<Pick<SendingDomain, 'returnPathHost' | 'trackingHost' | 'isHeld'>>;

/** A key with its record. */
export function newDomainKey(algorithm: Algorithm, selector: string) {
  const { privateKey, publicKey } =
    algorithm === 'rsa' ? rsaPair() : generateKeyPairSync('ed25519');
  const der = publicKey.export({ format: 'der', type: 'spki' });
  // RFC 8463: the key alone; before it stand 12 bytes that are the same for all.
  const published = (algorithm === 'rsa' ? der : der.subarray(12)).toString('base64');
  const key: PrivateKey = { selector, algorithm, key: privateKey };
  return { key, record: `v=DKIM1; k=${algorithm}; p=${published}` };
}

/** A domain as workspaces answers it, and the records of its keys. */
export function givenDomain(
  keys: readonly (readonly [algorithm: Algorithm, selector: string])[],
  over: Partial<GivenDomain> = {},
): { domain: GivenDomain; records: Records } {
  const { name = 'sender.example' } = over;
  const records: Records = new Map();
  const signingKeys = keys.map(([algorithm, selector]) => {
    const { key, record } = newDomainKey(algorithm, selector);
    records.set(`${selector}._domainkey.${name}`, record);
    return { selector, algorithm, sealedPrivateKey: sealed(key, name) };
  });
  return { domain: { signingKeys, ...over, name }, records };
}

export function sealed({ key, selector }: PrivateKey, domain: string): string {
  const der = key.export({ format: 'der', type: 'pkcs8' }).toString('base64');
  return keyring.letters.seal(der, signingKeyPlace('w1', domain, selector));
}

/** The verdict of a receiver on each signature of a mail, such as `pass pr1`. */
export async function verified(mail: string, records: Records): Promise<string[]> {
  const { results } = await dkimVerify(Buffer.from(mail, 'latin1'), {
    resolver: async (name: string) => {
      const record = records.get(name);
      if (record === undefined) throw Object.assign(new Error('no record'), { code: 'ENOTFOUND' });
      return [[record]];
    },
  });
  return results.map(({ status, selector }) => `${status.result} ${selector}`);
}
