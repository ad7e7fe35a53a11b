import { timingSafeEqual } from 'node:crypto';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { Mac } from '#lib/keys/mac.ts';
import { macOf, uuidOf } from '#lib/keys/tracking-token.ts';

const purpose = 'postrider/links';
const idBytes = 16;
const macBytes = 16;

/**
 * A token lets its holder `act` for the recipient, or `see` the mail and nothing else. Neither is
 * valid in place of the other.
 */
export type TokenKind = 'act' | 'see';

/**
 * Makes tokens for links of a mail's recipient: the message's id, and a MAC over it, the workspace
 * and the kind.
 */
export function createTokenMaker(
  keyring: Keyring,
  kind: TokenKind = 'act',
): (workspaceId: string, messageId: string) => string {
  const [mac] = keyring.macs(purpose);
  if (!mac) throw new Error('SERVICE_KEYS has no key');
  return (workspaceId, messageId) => {
    const id = Buffer.from(messageId.replaceAll('-', ''), 'hex');
    return Buffer.concat([id, tagOf(mac, { workspaceId, id, kind })]).toString('base64url');
  };
}

/** The message id of a valid token of the kind; undefined for any other text. */
export function readToken(
  keyring: Keyring,
  workspaceId: string,
  token: string,
  kind: TokenKind = 'act',
): string | undefined {
  if (!/^[A-Za-z0-9_-]{43}$/.test(token)) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  const [id, tag] = [bytes.subarray(0, idBytes), bytes.subarray(idBytes)];
  const isOurs = keyring
    .macs(purpose)
    .some((mac) => timingSafeEqual(tag, tagOf(mac, { workspaceId, id, kind })));
  if (!isOurs) return undefined;
  return uuidOf(id);
}

type Named = { workspaceId: string; id: Buffer; kind: TokenKind };

/** Ids have one length, so that no text of one kind is a text of the other. */
function tagOf(mac: Mac, { workspaceId, id, kind }: Named): Buffer {
  const named = kind === 'act' ? id : Buffer.concat([Buffer.from(`${kind}\0`), id]);
  return macOf(mac, workspaceId, named).subarray(0, macBytes);
}

/** The text that every token of a message begins with: all of them begin with its id. */
export function tokenPrefix(messageId: string): string {
  // The last character of 16 bytes holds bits of what follows.
  return Buffer.from(messageId.replaceAll('-', ''), 'hex').toString('base64url').slice(0, 21);
}
