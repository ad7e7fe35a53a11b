import type { MailFile } from './files.ts';
import type { HeaderField } from './headers.ts';
import { encodeStatic } from './quoted-printable.ts';

/** Text that is the same in all mails of a template. */
export type StaticText = {
  text: string;
  /** In quoted-printable. */
  encoded: Buffer;
};

export function staticText(text: string): StaticText {
  return { text, encoded: encodeStatic(text) };
}

/** A text as it was rendered: what the template says, and the recipient's values between. */
export type MailText = readonly (StaticText | string)[];

/**
 * A rendered mail, in parts. The sender decides how it is written: `writeMail` makes MIME of it.
 * Held only while it is being sent.
 */
export type MailParts = {
  /** A mail that goes out as it came, in place of all other parts, which are empty. */
  finished?: Buffer;
  /** Makes the copy that is kept, where that is another one than goes out. */
  kept?: () => Buffer;
  /** Stands in the record before the reply of the server. */
  note?: string;
  /** In their order, without those of MIME. */
  headers: readonly HeaderField[];
  text: MailText;
  /** Undefined for a mail of plain text. */
  html: MailText | undefined;
  files: readonly MailFile[];
};

/** A mail of which nothing is to be made. Each of its lines ends with CRLF. */
export function finishedMail(
  finished: Buffer,
  { note, kept }: Pick<MailParts, 'note' | 'kept'> = {},
): MailParts {
  const beside = { ...(note && { note }), ...(kept && { kept }) };
  return { finished, ...beside, headers: [], text: [], html: undefined, files: [] };
}

/** The text in one piece. */
export function wholeText(text: MailText): string {
  return text.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('');
}

/** About the size of a mail without its files, before it is encoded. */
export function roughLength({ finished, headers, text, html }: MailParts): number {
  if (finished) return finished.length;
  const lines = headers.reduce((sum, { line }) => sum + line.length, 0);
  return lines + lengthOf(text) + lengthOf(html ?? []);
}

function lengthOf(text: MailText): number {
  return text.reduce(
    (sum, piece) => sum + (typeof piece === 'string' ? piece : piece.encoded).length,
    0,
  );
}
