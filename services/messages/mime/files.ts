import { randomBytes } from 'node:crypto';
import { fileNameParameter } from './headers.ts';

/** A file in a mail. */
export type MailFile = {
  filename: string;
  /** A media type that was checked. */
  contentType: string;
  /** Set for an inline file, which the HTML shows by it. */
  contentId: string | undefined;
  content: Buffer;
};

/**
 * A MIME entity: its media type, its header fields, and what stands before and after a text within
 * it.
 */
export type Frame = {
  media: string;
  type: string;
  before: readonly Buffer[];
  after: readonly Buffer[];
};

/** Puts a mail's text beside its inline files, and that beside the others. */
export function enclose(text: Frame, files: readonly MailFile[]): Frame {
  const inline = files.filter(({ contentId }) => contentId !== undefined);
  const attached = files.filter(({ contentId }) => contentId === undefined);
  return encloseAs('mixed', encloseAs('related', text, inline), attached);
}

function encloseAs(kind: 'mixed' | 'related', first: Frame, files: readonly MailFile[]): Frame {
  if (files.length === 0) return first;
  const boundary = `=_${randomBytes(12).toString('hex')}`;
  const root = kind === 'related' ? `\r\n type="${first.media}";` : '';
  return {
    media: `multipart/${kind}`,
    type: `Content-Type: multipart/${kind};${root}\r\n boundary="${boundary}"\r\n`,
    before: [Buffer.from(`--${boundary}\r\n${first.type}\r\n`), ...first.before],
    after: [
      ...first.after,
      ...files.flatMap((file) => [
        Buffer.from(`\r\n--${boundary}\r\n${fileHead(file)}\r\n`),
        base64Lines(file.content),
      ]),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ],
  };
}

function fileHead({ filename, contentType, contentId }: MailFile): string {
  const disposition = contentId === undefined ? 'attachment' : 'inline';
  const id = contentId === undefined ? '' : `Content-ID: <${contentId}>\r\n`;
  return (
    `Content-Type: ${contentType};${fileNameParameter('name', filename)}\r\n` +
    `Content-Transfer-Encoding: base64\r\n${id}` +
    `Content-Disposition: ${disposition};${fileNameParameter('filename', filename)}\r\n`
  );
}

const lineBytes = 57;
const lineCharacters = 76;

/** RFC 2045: lines of 76 characters. */
function base64Lines(content: Buffer): Buffer {
  const lines = Math.ceil(content.length / lineBytes);
  const encoded = Buffer.allocUnsafeSlow(Math.ceil(content.length / 3) * 4 + 2 * lines);
  let end = 0;
  // Whole lines at a time keep the text short.
  for (let at = 0; at < content.length; at += lineBytes * 1_000) {
    const text = content.toString('base64', at, Math.min(content.length, at + lineBytes * 1_000));
    for (let start = 0; start < text.length; start += lineCharacters) {
      end += encoded.write(`${text.slice(start, start + lineCharacters)}\r\n`, end, 'latin1');
    }
  }
  return encoded.subarray(0, end);
}
