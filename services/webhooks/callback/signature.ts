import { createHmac } from 'node:crypto';

const secretPrefix = 'whsec_';

/** The key of the signature: the bytes behind the prefix. */
export function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(secretPrefix.length), 'base64');
}

/** The header `webhook-signature` of Standard Webhooks. */
export function signatureOf(key: Buffer, id: string, timestamp: string, body: string): string {
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return `v1,${mac}`;
}
