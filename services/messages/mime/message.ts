import type { MessageBuffer } from './buffer.ts';
import { appendValue } from './quoted-printable.ts';

/**
 * Rendered but not encoded: static bytes by reference, values as text. Held only while a connection
 * sends it.
 */
export interface PreparedMail {
  head: string;
  body: (Buffer | string)[];
  /** The same mail without its files, where it has any: what is kept of it. */
  withoutFiles?: PreparedMail;
}

/** About its size, before it is encoded. */
export function preparedLength({ head, body }: PreparedMail): number {
  return body.reduce((sum, { length }) => sum + length, head.length);
}

/** Writes the message, encoded, with the dot that ends it. */
export function writeMessage(buffer: MessageBuffer, message: PreparedMail): void {
  buffer.appendLatin1(message.head);
  for (const piece of message.body) {
    if (typeof piece === 'string') appendValue(buffer, piece);
    else buffer.appendBytes(piece);
  }
  buffer.appendLatin1('.\r\n');
}
