import { timingSafeEqual } from 'node:crypto';
import { remember } from '../cache.ts';
import type { Keyring } from './keyring.ts';
import type { Mac } from './mac.ts';
import { macOf, uuidOf } from './tracking-token.ts';

/*
 * A return path is the envelope sender of one mail. Below the installation's domain it is
 * `b-<token>@<label>.<domain>`: the token has the message's id and a MAC, the label names the
 * workspace. At the host of a workspace's own domain it is `b-<token>@<host>`: there the token
 * names the workspace too, and its MAC has one byte less, since a local part has 64 characters.
 *
 * The address of a test mail is `t-<token>@<label>.<domain>`, with the test's id and a MAC by other
 * keys: a recipient who knows a return path makes no such address of it.
 *
 * Servers may change the case of an address, so that it has one case: base32 in place of base64.
 */

const purpose = 'return-paths';
const testPurpose = 'test-addresses';
const idBytes = 16;
const macBytes = 8;
const shortMacBytes = 7;
/** The id, the MAC, and what names the workspace: 1 to 15 bytes. */
const localPart = /^([bt])-([a-z2-7]{39,61})$/;
/** Addresses of tests, as a pattern of PostgreSQL. */
export const testAddressForm = '^t-[a-z2-7]{39}@';
/** Ids that are labels as they are. Others get a prefix with a hyphen, which no id has. */
const labelForm = /^[a-z0-9]{1,63}$/;
const encodedPrefix = 'x-';

/** The mail that a return path is of. */
export type ReturnPathMail = { workspaceId: string; messageId: string };

/** The test that an address is of. */
export type AddressedTest = { workspaceId: string; testId: string };

export type ReturnPaths = {
  /** At a host of the workspace's own; below the installation's domain if it is empty. */
  of(mail: ReturnPathMail, host?: string): string;
  /** The mail of one of ours; undefined for any other text. */
  read(address: string): ReturnPathMail | undefined;
  /** The address of a test mail. */
  ofTest(test: AddressedTest): string;
  /** The test of one of ours; undefined for any other text. */
  readTest(address: string): AddressedTest | undefined;
};

/** Keys of its own: no other process makes or reads them. */
export function createReturnPaths(keyring: Keyring, domain: string): ReturnPaths {
  const { macs } = keyring.ownKeys(purpose);
  const { macs: testMacs } = keyring.ownKeys(testPurpose);
  const [first] = macs;
  const [firstOfTests] = testMacs;
  if (!first || !firstOfTests) throw new Error('SERVICE_KEYS has no key');
  return {
    of({ workspaceId, messageId }, host = '') {
      if (host === '') return addressOf('b', first, { workspaceId, id: messageId }, domain);
      const id = bytesOfUuid(messageId);
      const mac = macOf(first, workspaceId, id);
      const named = [id, mac.subarray(0, shortMacBytes), numberOf(workspaceId)];
      return `b-${base32(Buffer.concat(named))}@${host}`;
    },
    read(address) {
      const found = readingOf(address, domain);
      return found?.kind === 'b' && isBy(macs, found)
        ? { workspaceId: found.workspaceId, messageId: uuidOf(found.id) }
        : undefined;
    },
    ofTest: ({ workspaceId, testId }) =>
      addressOf('t', firstOfTests, { workspaceId, id: testId }, domain),
    readTest(address) {
      const found = readingOf(address, domain);
      return found?.kind === 't' && isBy(testMacs, found)
        ? { workspaceId: found.workspaceId, testId: uuidOf(found.id) }
        : undefined;
    },
  };
}

function addressOf(
  kind: Parts['kind'],
  mac: Mac,
  { workspaceId, id: uuid }: { workspaceId: string; id: string },
  domain: string,
): string {
  const id = bytesOfUuid(uuid);
  const token = Buffer.concat([id, macOf(mac, workspaceId, id).subarray(0, macBytes)]);
  return `${kind}-${base32(token)}@${returnPathHost(workspaceId, domain)}`;
}

const bytesOfUuid = (uuid: string) => Buffer.from(uuid.replaceAll('-', ''), 'hex');

function isBy(macs: readonly Mac[], { workspaceId, id, tag }: Reading): boolean {
  return macs.some((mac) =>
    timingSafeEqual(tag, macOf(mac, workspaceId, id).subarray(0, tag.length)),
  );
}

/** The host of a workspace's return paths. */
export function returnPathHost(workspaceId: string, domain: string): string {
  return `${labelOf(workspaceId)}.${domain}`;
}

/** Whether an address has the form of a return path or of a test's address, whatever its MAC. */
export function mayBeReturnPath(address: string, domain: string): boolean {
  return readingOf(address, domain) !== undefined;
}

/** Whether an address that may be taken is that of a test. */
export const isTestAddress = (address: string): boolean => partsOf(address)?.kind === 't';

type Parts = { kind: 'b' | 't'; token: Buffer; host: string };

function partsOf(address: string): Parts | undefined {
  const [local = '', host = '', ...more] = address.toLowerCase().split('@');
  const [, kind, text] = localPart.exec(local) ?? [];
  const token = text === undefined ? undefined : fromBase32(text);
  const isWhole = token && more.length === 0 && hostForm.test(host);
  return isWhole ? { kind: kind === 't' ? 't' : 'b', token, host } : undefined;
}

/** A server may have decoded one that is not ASCII. */
const hostForm = /^[^\s@]{1,253}$/u;

/** The workspace and the id that an address names, and the MAC that proves them. */
type Reading = { kind: Parts['kind']; workspaceId: string; id: Buffer; tag: Buffer };

function readingOf(address: string, domain: string): Reading | undefined {
  const parts = partsOf(address);
  if (!parts) return undefined;
  const { kind, token, host } = parts;
  const id = token.subarray(0, idBytes);
  if (host !== domain && !host.endsWith(`.${domain}`)) {
    const tagEnd = idBytes + shortMacBytes;
    const workspaceId = workspaceOfNumber(token.subarray(tagEnd));
    return workspaceId === undefined || kind === 't'
      ? undefined
      : { kind, workspaceId, id, tag: token.subarray(idBytes, tagEnd) };
  }
  const workspaceId = workspaceOf(host.slice(0, -domain.length - 1));
  const isWhole = token.length === idBytes + macBytes;
  return isWhole && workspaceId !== undefined
    ? { kind, workspaceId, id, tag: token.subarray(idBytes) }
    : undefined;
}

/**
 * The id of a workspace, at most 20 letters and digits, as a number in bijective base 62: no two
 * ids have the same, and none takes more than 15 bytes.
 */
const numberOf = remember(1_000, (workspaceId: string): Buffer => {
  let number = 0n;
  for (const char of workspaceId) number = number * base + BigInt(idAlphabet.indexOf(char) + 1);
  const hex = number.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
});

/** Undefined where another text has the same number. */
function workspaceOfNumber(bytes: Buffer): string | undefined {
  if (bytes.length === 0 || bytes.length > numberBytesMax || bytes[0] === 0) return undefined;
  let number = BigInt(`0x${bytes.toString('hex')}`);
  let id = '';
  while (number > 0n) {
    const digit = (number - 1n) % base;
    id = idAlphabet.charAt(Number(digit)) + id;
    number = (number - 1n - digit) / base;
  }
  return id.length <= idLengthMax ? id : undefined;
}

const idAlphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const base = BigInt(idAlphabet.length);
const idLengthMax = 20;
const numberBytesMax = 15;

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
