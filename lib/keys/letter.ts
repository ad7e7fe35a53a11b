import {
  createCipheriv,
  createDecipheriv,
  diffieHellman,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { cannotOpen } from './box.ts';
import {
  type KeyPair,
  keyId,
  keyIdBytes,
  newKeyPair,
  privateKeyOf,
  publicKeyOf,
} from './key-pair.ts';

const curve = 'X25519';
const prefix = 'p1:';
const keyBytes = 32;
const tagBytes = 16;
const headBytes = keyIdBytes + keyBytes;
// Each letter has a key of its own.
const iv = Buffer.alloc(12);

/**
 * Seals texts to public keys, as ECIES does: X25519, HKDF-SHA256, AES-256-GCM. The sealing process
 * cannot open them.
 */
export type LetterWriter = {
  seal(text: string, place: string): string;
  /** Whether the text is a letter to the key that is in use now. */
  isCurrent(sealed: string): boolean;
};

/** Opens letters. Throws for one to another key or another place. */
export type LetterReader = (sealed: string, place: string) => string;

export const isLetter = (sealed: string): boolean => sealed.startsWith(prefix);

export function letterWriter(publicKey: string): LetterWriter {
  const recipient = publicKeyOf(curve, publicKey);
  const raw = Buffer.from(publicKey, 'base64url');
  const name = keyId(raw);
  return {
    seal(text, place) {
      const once = newKeyPair(curve);
      const sender = Buffer.from(once.x, 'base64url');
      const key = sharedKey(privateKeyOf(curve, once), recipient, [sender, raw]);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(place));
      const sealed = [cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return prefix + Buffer.concat([name, sender, ...sealed]).toString('base64');
    },
    isCurrent: (sealed) => isLetter(sealed) && bytesOf(sealed).subarray(0, keyIdBytes).equals(name),
  };
}

export function letterReader(pairs: readonly KeyPair[]): LetterReader {
  const keys = pairs.map((pair) => {
    const raw = Buffer.from(pair.x, 'base64url');
    return { raw, name: keyId(raw), key: privateKeyOf(curve, pair) };
  });
  return (sealed, place) => {
    const bytes = bytesOf(sealed);
    const mine = keys.find(({ name }) => bytes.subarray(0, keyIdBytes).equals(name));
    if (!isLetter(sealed) || !mine || bytes.length < headBytes + tagBytes) throw cannotOpen();
    const sender = bytes.subarray(keyIdBytes, headBytes);
    try {
      const other = publicKeyOf(curve, sender.toString('base64url'));
      const key = sharedKey(mine.key, other, [sender, mine.raw]);
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
        .setAAD(Buffer.from(place))
        .setAuthTag(bytes.subarray(-tagBytes));
      const plain = decipher.update(bytes.subarray(headBytes, -tagBytes));
      return Buffer.concat([plain, decipher.final()]).toString('utf8');
    } catch {
      throw cannotOpen();
    }
  };
}

function bytesOf(sealed: string): Buffer {
  return Buffer.from(sealed.slice(prefix.length), 'base64');
}

function sharedKey(privateKey: KeyObject, publicKey: KeyObject, salt: Buffer[]): Buffer {
  const shared = diffieHellman({ privateKey, publicKey });
  const info = 'postrider/letters';
  return Buffer.from(hkdfSync('sha256', shared, Buffer.concat(salt), info, keyBytes));
}
