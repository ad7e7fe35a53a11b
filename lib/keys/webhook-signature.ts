import { createMac, type Mac } from './mac.ts';

const secretPrefix = 'whsec_';

/** Signs by a secret, whose key is the bytes behind the prefix. */
export function signerOf(secret: string): Mac {
  return createMac(Buffer.from(secret.slice(secretPrefix.length), 'base64'));
}

/** The header `webhook-signature` of Standard Webhooks. */
export function signatureOf(sign: Mac, id: string, timestamp: string, body: string): string {
  return `v1,${sign(Buffer.from(`${id}.${timestamp}.${body}`)).toString('base64')}`;
}
