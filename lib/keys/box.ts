import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomFillSync,
} from 'node:crypto';
import { keyId, keyIdBytes } from './key-pair.ts';

/**
 * AES-256-GCM. A value sealed for one place, such as a row and column, opens for that place only.
 */
export type Box = {
  seal(plain: Buffer, place: string): Buffer;
  /** Throws where the bytes were not sealed by one of the keys, for this place. */
  open(sealed: Buffer, place: string): Buffer;
  /** Whether the key that seals now has sealed the bytes. */
  isCurrent(sealed: Buffer): boolean;
};

const version = 2;
const headBytes = 1 + keyIdBytes;
const ivBytes = 12;
const tagBytes = 16;

/** The first key seals, all open. Sealed bytes begin with the version and the key's id. */
export function createBox(given: readonly Buffer[]): Box {
  // From bytes, each cipher would make a key object of its own.
  const keys = given.map((key) => ({ head: headOf(key), key: createSecretKey(key) }));
  const [first] = keys;
  if (!first) throw new Error('a box needs a key');
  const isOf = (sealed: Buffer, head: Buffer) => sealed.subarray(0, headBytes).equals(head);
  return {
    seal(plain, place) {
      const iv = nextIv();
      const cipher = createCipheriv('aes-256-gcm', first.key, iv).setAAD(Buffer.from(place));
      const sealed = cipher.update(plain);
      return Buffer.concat([first.head, iv, sealed, cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, place) {
      for (const { head, key } of keys) {
        const plain = isOf(sealed, head) && opened(key, sealed.subarray(headBytes), place);
        if (plain) return plain;
      }
      throw cannotOpen();
    },
    isCurrent: (sealed) => isOf(sealed, first.head),
  };
}

/** Opens what was sealed before bytes named their key. */
export function openUnnamed(keys: readonly Buffer[], sealed: Buffer, place: string): Buffer {
  for (const key of keys) {
    const plain = opened(createSecretKey(key), sealed, place);
    if (plain) return plain;
  }
  throw cannotOpen();
}

export function cannotOpen(): Error {
  return new Error('stored data cannot be opened with the keys of SERVICE_KEYS');
}

function headOf(key: Buffer): Buffer {
  return Buffer.concat([Buffer.of(version), keyId(key)]);
}

const ivs = Buffer.allocUnsafeSlow(ivBytes * 256);
let usedIvBytes = ivs.length;

/**
 * Random bytes are drawn many at a time, as a draw costs more than sealing a short text. Each is
 * used once.
 */
function nextIv(): Buffer {
  if (usedIvBytes === ivs.length) {
    randomFillSync(ivs);
    usedIvBytes = 0;
  }
  usedIvBytes += ivBytes;
  return ivs.subarray(usedIvBytes - ivBytes, usedIvBytes);
}

/** Undefined where another key has sealed it. */
function opened(key: KeyObject, sealed: Buffer, place: string): Buffer | undefined {
  if (sealed.length < ivBytes + tagBytes) return undefined;
  const options = { authTagLength: tagBytes };
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, ivBytes), options)
    .setAAD(Buffer.from(place))
    .setAuthTag(sealed.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(ivBytes, -tagBytes)), decipher.final()]);
  } catch {
    return undefined;
  }
}
