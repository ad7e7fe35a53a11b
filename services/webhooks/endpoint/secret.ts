import { randomBytes } from 'node:crypto';

/** A secret of Standard Webhooks: the key of the signature is the decoded bytes. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
