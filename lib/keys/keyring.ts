import { createHmac, timingSafeEqual } from 'node:crypto';
import { LruMap } from '../collections/lru-map.ts';
import { type Box, createBox, openUnnamed } from './box.ts';
import { deriveKey } from './derive.ts';
import type { Keyset } from './keyset.ts';
import { isLetter, letterReader, letterWriter } from './letter.ts';
import { createMac, type Mac } from './mac.ts';
import { openOldCredential } from './secret-key.ts';
import {
  type Claims,
  clockWatch,
  partOf,
  tokenLengthMax,
  tokenSigner,
  tokenVerifier,
  type Verified,
  type WarningLog,
} from './tokens.ts';

export type { Claims } from './tokens.ts';

/** Where a sealed text is stored. It opens nowhere else. */
export type SealedPlace = {
  workspaceId: string;
  row: string;
  /** Beside the purpose, where a row has several. */
  column?: string;
};

/** Everything that a process does with the keys of its service. */
export type Keyring = {
  /** The service that it signs for. */
  readonly service: string;
  /** Throws for an identity that another service signs. */
  signToken(claims: Claims, ttlSeconds: number): Promise<string>;
  /** The claims of a valid token; undefined for any other. `client` is who sent it, for limits. */
  verifyToken(token: string, client?: string): Promise<Claims | undefined>;
  /** The claims of a token of a service alone; never asks anybody. */
  verifyServiceToken(token: string): Promise<Claims | undefined>;
  /** Seals what one workspace stores, with a key of its own for one purpose. */
  box(purpose: string, workspaceId: string): Box;
  /**
   * Opens such a box, also one from before messages had keys of its own, for which workspaces is
   * asked.
   */
  openBox(purpose: string, workspaceId: string, sealed: Buffer, row: string): Promise<Buffer>;
  /** Seals a text in such a box. */
  seal(purpose: string, text: string, place: SealedPlace): string;
  open(purpose: string, sealed: string, place: SealedPlace): string;
  /** Whether a text is sealed by the key that is in use now. */
  isCurrent(purpose: string, sealed: string, workspaceId: string): boolean;
  /** Seals a secret so that only messages opens it. */
  letters: {
    seal(text: string, place: SealedPlace): string;
    open(sealed: string, place: SealedPlace): string;
    isCurrent(sealed: string): boolean;
  };
  /** The MACs for one purpose, that of the current key first. */
  macs(purpose: string): readonly Mac[];
  /**
   * Keys for what the service keeps for some time and nobody else reads, derived from its identity:
   * a dropped one opens nothing more.
   */
  ownKeys(purpose: string): { box: Box; macs: readonly Mac[] };
};

type Options = {
  /** Gets tokens whose times show that clocks disagree. */
  log?: WarningLog;
  /** Verifies tokens of before, which are HS256; none is valid if absent. */
  verifyOld?: (token: string, client: string) => Promise<Verified | undefined>;
  /** Gives the keys of a workspace's boxes of before. */
  oldBoxKeys?: (purpose: string, workspaceId: string) => Promise<readonly Uint8Array[]>;
  /** Opens credentials of before, beside those in the keyset. */
  oldCredentials?: readonly Buffer[];
};

const verifiedMax = 2_000;
const boxesMax = 2_000;
const textPrefix = 'v2:';

export function createKeyring(keyset: Keyset, options: Options = {}): Keyring {
  const { log, verifyOld = async () => undefined, oldCredentials = [] } = options;
  const before = [...bytesOf(keyset.before?.credentials ?? []), ...oldCredentials];
  const box = createBoxes(keyset);
  return {
    service: keyset.service,
    signToken: tokenSigner(keyset),
    ...cachedVerifier(tokenVerifier(keyset, clockWatch(log)), verifyOld),
    box,
    async openBox(purpose, workspaceId, sealed, row) {
      try {
        return box(purpose, workspaceId).open(sealed, row);
      } catch (error) {
        if (!keyset.before || !options.oldBoxKeys) throw error;
        const keys = await options.oldBoxKeys(purpose, workspaceId);
        return openUnnamed(
          keys.map((key) => Buffer.from(key)),
          sealed,
          row,
        );
      }
    },
    seal: (purpose, text, { workspaceId, row, column = '' }) => {
      const sealed = box(purpose, workspaceId).seal(Buffer.from(text), `${row}\0${column}`);
      return textPrefix + sealed.toString('base64');
    },
    open: (purpose, sealed, { workspaceId, row, column = '' }) => {
      if (!sealed.startsWith(textPrefix)) return openOldCredential(before, sealed);
      const plain = box(purpose, workspaceId).open(textBytes(sealed), `${row}\0${column}`);
      return plain.toString();
    },
    isCurrent: (purpose, sealed, workspaceId) =>
      sealed.startsWith(textPrefix) && box(purpose, workspaceId).isCurrent(textBytes(sealed)),
    letters: createLetters(keyset, before),
    macs: createMacs(keyset),
    ownKeys: (purpose) => {
      const derived = (use: string) =>
        bytesOf(keyset.identity.map(({ d }) => d)).map((key) =>
          deriveKey(key, `${purpose}/${use}`),
        );
      return { box: createBox(derived('box')), macs: derived('mac').map(createMac) };
    },
  };
}

const textBytes = (sealed: string) => Buffer.from(sealed.slice(textPrefix.length), 'base64');

/** A valid signature stays valid until the token expires, so it is checked once. */
function cachedVerifier(
  verify: (token: string) => Promise<Verified | undefined>,
  verifyOld: (token: string, client: string) => Promise<Verified | undefined>,
): Pick<Keyring, 'verifyToken' | 'verifyServiceToken'> {
  const verified = new LruMap<Verified>({ max: verifiedMax });
  const verifyToken = async (token: string, old: typeof verifyOld, client = '') => {
    if (token.length > tokenLengthMax) return undefined;
    const known = verified.get(token);
    if (known) return known.expiresAtMs > Date.now() ? known.claims : undefined;
    if (partOf(token, 0).alg === 'HS256') return (await old(token, client))?.claims;
    const fresh = await verify(token);
    if (!fresh) return undefined;
    verified.set(token, fresh);
    return fresh.claims;
  };
  return {
    verifyToken: (token, client) => verifyToken(token, verifyOld, client),
    async verifyServiceToken(token) {
      const claims = await verifyToken(token, async () => undefined);
      return claims?.type === 'service' ? claims : undefined;
    },
  };
}

/** Cached, since deriving a key costs as much as sealing some kilobytes. */
function createBoxes({ service, boxes }: Keyset): Keyring['box'] {
  const known = new LruMap<Box>({ max: boxesMax });
  return (purpose, workspaceId) => {
    const name = `${purpose}/${workspaceId}`;
    const found = known.get(name);
    if (found) return found;
    const keys = bytesOf(boxes[purpose] ?? []);
    if (keys.length === 0) throw new Error(`SERVICE_KEYS of ${service} has no key for ${purpose}`);
    const made = boxAt(name, keys);
    known.set(name, made);
    return made;
  };
}

/** The place of a box's bytes is the workspace, the purpose and the row. */
function boxAt(name: string, keys: readonly Buffer[]): Box {
  const { seal, open, isCurrent } = createBox(keys.map((key) => deriveKey(key, name)));
  return {
    seal: (plain, place) => seal(plain, `${name}\0${place}`),
    open: (sealed, place) => open(sealed, `${name}\0${place}`),
    isCurrent,
  };
}

function createLetters(keyset: Keyset, before: readonly Buffer[]): Keyring['letters'] {
  const writer = letterWriter(keyset.letters);
  const read = letterReader(keyset.letterOpeners ?? []);
  const placeOf = ({ workspaceId, row, column = '' }: SealedPlace) =>
    `${workspaceId}\0${row}\0${column}`;
  return {
    seal: (text, place) => writer.seal(text, placeOf(place)),
    open(sealed, place) {
      if (isLetter(sealed)) return read(sealed, placeOf(place));
      return openOldCredential(before, sealed);
    },
    isCurrent: writer.isCurrent,
  };
}

function createMacs({ service, macs }: Keyset): Keyring['macs'] {
  const known = new Map(
    Object.entries(macs).map(([purpose, keys]) => [purpose, bytesOf(keys).map(createMac)]),
  );
  return (purpose) => {
    const found = known.get(purpose);
    if (!found?.length) throw new Error(`SERVICE_KEYS of ${service} has no key for ${purpose}`);
    return found;
  };
}

function bytesOf(keys: readonly string[]): Buffer[] {
  return keys.map((key) => Buffer.from(key, 'base64url'));
}

/** Compares in a time that does not depend on the position of a difference. */
export function equalInConstantTime(a: string, b: string): boolean {
  const digest = (text: string) => createHmac('sha256', 'compare').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
