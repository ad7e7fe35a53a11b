import { MessageBuffer } from '../mime/buffer.ts';
import { type PreparedMail, writeMessage } from '../mime/message.ts';

/** The line that ends a mail in SMTP is not part of it. */
const end = '.\r\n';

const buffer = new MessageBuffer();

/** A mail as it is sent. */
export function encodeContent(mail: PreparedMail): Buffer {
  buffer.clear();
  writeMessage(buffer, mail);
  return Buffer.from(buffer.written().subarray(0, -end.length));
}
