import { timingSafeEqual } from 'node:crypto';
import type { Keyring } from './keyring.ts';
import { macOf, uuidOf } from './tracking-token.ts';

/*
 * A return path is the envelope sender of one mail: `b-<token>@<label>.<domain>`. The token has the
 * message's id and a MAC, the label names the workspace. Servers may change the case of an address,
 * so that it has one case: base32 in place of base64.
 */

const purpose = 'return-paths';
const idBytes = 16;
const macBytes = 8;
const localPart = /^b-([a-z2-7]{39})$/;
/** Ids that are labels as they are. Others get a prefix with a hyphen, which no id has. */
const labelForm = /^[a-z0-9]{1,63}$/;
const encodedPrefix = 'x-';

/** The mail that a return path is of. */
export type ReturnPathMail = { workspaceId: string; messageId: string };

export type ReturnPaths = {
  of(mail: ReturnPathMail): string;
  /** The mail of one of ours; undefined for any other text. */
  read(address: string): ReturnPathMail | undefined;
};

/** Keys of its own: no other process makes or reads them. */
export function createReturnPaths(keyring: Keyring, domain: string): ReturnPaths {
  const { macs } = keyring.ownKeys(purpose);
  const [first] = macs;
  if (!first) throw new Error('SERVICE_KEYS has no key');
  return {
    of({ workspaceId, messageId }) {
      const id = Buffer.from(messageId.replaceAll('-', ''), 'hex');
      const tag = macOf(first, workspaceId, id).subarray(0, macBytes);
      return `b-${base32(Buffer.concat([id, tag]))}@${returnPathHost(workspaceId, domain)}`;
    },
    read(address) {
      const named = partsOf(address, domain);
      const workspaceId = named && workspaceOf(named.label);
      if (!named || workspaceId === undefined) return undefined;
      const [id, tag] = [named.token.subarray(0, idBytes), named.token.subarray(idBytes)];
      const isOurs = macs.some((mac) =>
        timingSafeEqual(tag, macOf(mac, workspaceId, id).subarray(0, macBytes)),
      );
      return isOurs ? { workspaceId, messageId: uuidOf(id) } : undefined;
    },
  };
}

/** The host of a workspace's return paths. */
export function returnPathHost(workspaceId: string, domain: string): string {
  return `${labelOf(workspaceId)}.${domain}`;
}

/** Whether an address has the form of a return path below the domain, whatever its MAC. */
export function mayBeReturnPath(address: string, domain: string): boolean {
  return partsOf(address, domain) !== undefined;
}

function partsOf(address: string, domain: string): { token: Buffer; label: string } | undefined {
  const [local = '', host = '', ...more] = address.toLowerCase().split('@');
  const text = localPart.exec(local)?.[1];
  const label = host.endsWith(`.${domain}`) ? host.slice(0, -domain.length - 1) : '';
  const token = text === undefined ? undefined : fromBase32(text);
  return token && /^[a-z0-9-]{1,63}$/.test(label) && more.length === 0
    ? { token, label }
    : undefined;
}

/** Workspace ids may differ by case alone, and hosts have no case. */
function labelOf(workspaceId: string): string {
  if (labelForm.test(workspaceId)) return workspaceId;
  return encodedPrefix + base32(Buffer.from(workspaceId));
}

function workspaceOf(label: string): string | undefined {
  if (!label.startsWith(encodedPrefix)) return labelForm.test(label) ? label : undefined;
  const id = fromBase32(label.slice(encodedPrefix.length))?.toString();
  return id !== undefined && labelOf(id) === label ? id : undefined;
}

/** RFC 4648, in lower case and without padding. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

function base32(bytes: Buffer): string {
  let [text, bits, value] = ['', 0, 0];
  for (const byte of bytes) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet[(value >>> (bits - 5)) & 31];
    value &= 31;
  }
  return bits > 0 ? text + alphabet[(value << (5 - bits)) & 31] : text;
}

/** Undefined where another text has the same bytes. */
function fromBase32(text: string): Buffer | undefined {
  const bytes = Buffer.alloc(Math.floor((text.length * 5) / 8));
  let [at, bits, value] = [0, 0, 0];
  for (const char of text) {
    value = ((value & 255) << 5) | alphabet.indexOf(char);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at] = (value >>> bits) & 255;
    at += 1;
  }
  return base32(bytes) === text ? bytes : undefined;
}
