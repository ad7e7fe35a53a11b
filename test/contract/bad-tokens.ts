import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { deriveKey } from '#lib/keys/derive.ts';

const inAnHour = Math.floor(Date.now() / 1_000) + 3_600;
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * Tokens that must be refused, although the last four are signed with the real key. `good` is a
 * valid one.
 */
export async function badTokens(secretKey: string, good: string): Promise<[string, string][]> {
  const key = deriveKey(secretKey, 'postrider/tokens');
  const [, payload = '', signature = ''] = good.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const publicText = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const sign = (alg: string, with_: Parameters<SignJWT['sign']>[0], header = {}, more = {}) =>
    new SignJWT({ ...claims, exp: inAnHour, ...more })
      .setProtectedHeader({ alg, typ: 'JWT', ...header })
      .sign(with_);
  const { exp: _, ...endless } = claims;
  return [
    ['that is no token', 'nonsense'],
    ['with alg none', `${part({ alg: 'none', typ: 'JWT' })}.${payload}.`],
    ['with alg none and a signature', `${part({ alg: 'nOnE' })}.${payload}.${signature}`],
    ['signed by an RSA key', await sign('RS256', rsa.privateKey)],
    ['whose HMAC key is a public key', await sign('HS256', Buffer.from(publicText))],
    ['signed with another key', await sign('HS256', Buffer.alloc(32, 1))],
    [
      'whose kid points to an empty file',
      await sign('HS256', Buffer.alloc(32), { kid: '../../dev/null' }),
    ],
    [
      'of another subject under an old signature',
      `${part({ alg: 'HS256' })}.${part({ ...claims, sub: 'x' })}.${signature}`,
    ],
    ['of 5,000 characters', `${good}${'x'.repeat(5_000)}`],
    ['signed by another algorithm', await sign('HS512', key)],
    ['that has expired', await sign('HS256', key, {}, { exp: inAnHour - 7_200 })],
    ['that is not valid yet', await sign('HS256', key, {}, { nbf: inAnHour })],
    ['without an end', await new SignJWT(endless).setProtectedHeader({ alg: 'HS256' }).sign(key)],
  ];
}
