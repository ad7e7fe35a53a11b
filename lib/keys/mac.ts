import { hash } from 'node:crypto';

/** Makes the message authentication code of bytes: 32 bytes. */
export type Mac = (message: Uint8Array) => Buffer;

const blockBytes = 64;
const digestBytes = 32;

/**
 * HMAC-SHA256 (RFC 2104) from one-shot digests. `createHmac` takes twice the time and leaves an
 * object for the garbage collector; every mail and every open needs two.
 */
export function createMac(key: Buffer): Mac {
  if (key.length > blockBytes) throw new Error(`a key has at most ${blockBytes} bytes`);
  const inner = block(key, 0x36);
  const outer = Buffer.concat([block(key, 0x5c), Buffer.alloc(digestBytes)]);
  return (message) => {
    // A digest as text needs no memory outside the heap.
    outer.write(hash('sha256', Buffer.concat([inner, message]), 'binary'), blockBytes, 'latin1');
    return Buffer.from(hash('sha256', outer, 'binary'), 'latin1');
  };
}

function block(key: Buffer, pad: number): Buffer {
  return Buffer.from(Array.from({ length: blockBytes }, (_, at) => (key[at] ?? 0) ^ pad));
}
