import { timingSafeEqual } from 'node:crypto';
import type { Keyring } from './keyring.ts';
import type { Mac } from './mac.ts';

const purpose = 'postrider/tracking';
const idBytes = 16;
const linkSetBytes = 8;
// Short, since a forged token could only count one open too many.
const macBytes = 8;

/** The content of a tracking token: the message, and the set of its links. */
export type Tracked = { messageId: string; linkSet: Buffer };

/** Makes the token of a message's pixel and links. */
export function createTrackingTokens(keyring: Keyring) {
  const [mac] = keyring.macs(purpose);
  if (!mac) throw new Error('SERVICE_KEYS has no key');
  return (workspaceId: string, messageId: string, linkSet: Buffer): string => {
    const named = Buffer.concat([Buffer.from(messageId.replaceAll('-', ''), 'hex'), linkSet]);
    return Buffer.concat([named, tagOf(mac, workspaceId, named)]).toString('base64url');
  };
}

/** Reads our tokens; undefined for any other text. */
export function createTrackingReader(keyring: Keyring) {
  const macs = keyring.macs(purpose);
  return (workspaceId: string, token: string): Tracked | undefined => {
    if (!/^[A-Za-z0-9_-]{43}$/.test(token)) return undefined;
    const bytes = Buffer.from(token, 'base64url');
    const named = bytes.subarray(0, idBytes + linkSetBytes);
    const tag = bytes.subarray(idBytes + linkSetBytes);
    if (!macs.some((mac) => timingSafeEqual(tag, tagOf(mac, workspaceId, named)))) return undefined;
    return { messageId: uuidOf(named), linkSet: named.subarray(idBytes) };
  };
}

/** The UUID that bytes begin with. */
export function uuidOf(bytes: Buffer): string {
  const hex = bytes.toString('hex', 0, idBytes);
  const cuts = [0, 8, 12, 16, 20, 32];
  return cuts
    .slice(1)
    .map((end, index) => hex.slice(cuts[index], end))
    .join('-');
}

/** The MAC over bytes of a workspace. A token carries its first bytes. */
export function macOf(mac: Mac, workspaceId: string, bytes: Buffer): Buffer {
  return mac(Buffer.concat([Buffer.from(`${workspaceId}\0`), bytes]));
}

function tagOf(mac: Mac, workspaceId: string, named: Buffer): Buffer {
  return macOf(mac, workspaceId, named).subarray(0, macBytes);
}
