import { MessageBuffer } from '../mime/buffer.ts';
import type { MailParts } from '../mime/mail.ts';
import { writeMail } from '../mime/write.ts';

const buffer = new MessageBuffer();

/** A mail as MIME, without its files. */
export function encodeContent(mail: MailParts): Buffer {
  if (mail.kept) return mail.kept();
  buffer.clear();
  writeMail(buffer, { ...mail, files: [] });
  return Buffer.from(buffer.written());
}
