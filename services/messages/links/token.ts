import { timingSafeEqual } from 'node:crypto';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { Mac } from '#lib/keys/mac.ts';
import { macOf, uuidOf } from '#lib/keys/tracking-token.ts';

const purpose = 'postrider/links';
const idBytes = 16;
const macBytes = 16;

/**
 * Makes tokens for links that act for a mail's recipient: the message's id, and a MAC over it and
 * the workspace.
 */
export function createTokenMaker(
  keyring: Keyring,
): (workspaceId: string, messageId: string) => string {
  const [mac] = keyring.macs(purpose);
  if (!mac) throw new Error('SERVICE_KEYS has no key');
  return (workspaceId, messageId) => {
    const id = Buffer.from(messageId.replaceAll('-', ''), 'hex');
    return Buffer.concat([id, tagOf(mac, workspaceId, id)]).toString('base64url');
  };
}

/** The message id of a valid token; undefined for any other text. */
export function readToken(
  keyring: Keyring,
  workspaceId: string,
  token: string,
): string | undefined {
  if (!/^[A-Za-z0-9_-]{43}$/.test(token)) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  const [id, tag] = [bytes.subarray(0, idBytes), bytes.subarray(idBytes)];
  const isOurs = keyring
    .macs(purpose)
    .some((mac) => timingSafeEqual(tag, tagOf(mac, workspaceId, id)));
  if (!isOurs) return undefined;
  return uuidOf(id);
}

function tagOf(mac: Mac, workspaceId: string, id: Buffer): Buffer {
  return macOf(mac, workspaceId, id).subarray(0, macBytes);
}
