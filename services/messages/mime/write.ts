import { randomBytes } from 'node:crypto';
import type { MessageBuffer } from './buffer.ts';
import { enclose, type Frame } from './files.ts';
import type { MailParts, MailText } from './mail.ts';
import { appendValue } from './quoted-printable.ts';

/** `=_` never occurs in quoted-printable, so the boundary is in no part. */
const boundary = `=_${randomBytes(12).toString('hex')}`;

const headOf = (type: string) =>
  `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n`;
const partOf = (start: string, type: string) =>
  Buffer.from(`${start}--${boundary}\r\n${headOf(type)}\r\n`);

/** The frame of a mail's text and HTML. */
const alternative: Frame = {
  media: 'multipart/alternative',
  type: `Content-Type: multipart/alternative;\r\n boundary="${boundary}"\r\n`,
  before: [partOf('', 'text/plain')],
  after: [Buffer.from(`\r\n--${boundary}--\r\n`)],
};
/** The frame of a text without HTML. Its last line must not end in a soft break. */
const plain: Frame = {
  media: 'text/plain',
  type: headOf('text/plain'),
  before: [],
  after: [Buffer.from('\r\n')],
};
const betweenTexts = partOf('\r\n', 'text/html');

/**
 * Writes a mail as MIME (RFC 5322, 2045 to 2049), in lines of which none begins with a dot, or a
 * finished one as it is.
 */
export function writeMail(buffer: MessageBuffer, mail: MailParts): void {
  const { finished, headers, text, html, files } = mail;
  if (finished) {
    buffer.appendBytes(finished);
    return;
  }
  const texts = html ? alternative : plain;
  const { type, before, after } = files.length === 0 ? texts : enclose(texts, files);
  let head = '';
  for (const { line } of headers) head += line;
  buffer.appendLatin1(`${head}MIME-Version: 1.0\r\n${type}\r\n`);
  for (const bytes of before) buffer.appendBytes(bytes);
  appendText(buffer, text);
  if (html) {
    buffer.appendBytes(betweenTexts);
    appendText(buffer, html);
  }
  for (const bytes of after) buffer.appendBytes(bytes);
}

function appendText(buffer: MessageBuffer, text: MailText): void {
  for (const piece of text) {
    if (typeof piece === 'string') appendValue(buffer, piece);
    else buffer.appendBytes(piece.encoded);
  }
}
