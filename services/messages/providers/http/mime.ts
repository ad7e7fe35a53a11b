import { MessageBuffer } from '../../mime/buffer.ts';
import type { MailParts } from '../../mime/mail.ts';
import { writeMail } from '../../mime/write.ts';

/** A mail as MIME, with lines below the 1,000 bytes of RFC 5322. */
export function mimeOf(mail: MailParts): Buffer {
  if (mail.finished) return mail.finished;
  const buffer = new MessageBuffer();
  writeMail(buffer, mail);
  return buffer.written();
}
