import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
} from 'node:crypto';

/** A private key `d` with its public key `x`, both base64url. */
export type KeyPair = { x: string; d: string };

/** Ed25519 signs tokens; X25519 opens letters. */
export type Curve = 'Ed25519' | 'X25519';

export function newKeyPair(curve: Curve): KeyPair {
  const made = curve === 'Ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('x25519');
  const { x = '', d = '' } = made.privateKey.export({ format: 'jwk' });
  return { x, d };
}

/** Throws where the text is no key. */
export function publicKeyOf(crv: Curve, x: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv, x }, format: 'jwk' });
}

export function privateKeyOf(crv: Curve, { x, d }: KeyPair): KeyObject {
  return createPrivateKey({ key: { kty: 'OKP', crv, x, d }, format: 'jwk' });
}

/** Names a key without telling anything about it: the first bytes of its digest. */
export function keyId(key: Uint8Array): Buffer {
  return hash('sha256', key, 'buffer').subarray(0, keyIdBytes);
}

export const keyIdBytes = 4;
