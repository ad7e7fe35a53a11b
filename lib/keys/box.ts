import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomFillSync,
} from 'node:crypto';

/** AES-256-GCM. What is sealed for one place, such as a row and column, opens for that place only. */
export type Box = {
  seal(plain: Buffer, place: string): Buffer;
  /** Throws where the bytes were not sealed by one of the keys, for this place. */
  open(sealed: Buffer, place: string): Buffer;
};

const ivBytes = 12;
const tagBytes = 16;

/** The first key seals, all open. */
export function createBox(given: readonly Buffer[]): Box {
  // From bytes, each cipher would make a key object of its own.
  const keys = given.map((key) => createSecretKey(key));
  const [first] = keys;
  if (!first) throw new Error('a box needs a key');
  return {
    seal(plain, place) {
      const iv = nextIv();
      const cipher = createCipheriv('aes-256-gcm', first, iv).setAAD(Buffer.from(place));
      const sealed = cipher.update(plain);
      return Buffer.concat([iv, sealed, cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, place) {
      for (const key of keys) {
        const plain = opened(key, sealed, place);
        if (plain) return plain;
      }
      throw new Error('stored data cannot be opened with SECRET_KEY');
    },
  };
}

const ivs = Buffer.allocUnsafeSlow(ivBytes * 256);
let usedIvBytes = ivs.length;

/** Random bytes are drawn many at a time, as a draw costs more than sealing a short text. Each is used once. */
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
