import PostalMime, { type Attachment, decodeWords } from 'postal-mime';

/** Of a mail that came back, everything that is read. */
export type ReturnedMail = {
  /** The first value of a header by its name in lower case; empty if there is none. */
  header(name: string): string;
  /** Its own text, without the mail that it returns. */
  text: string;
  /** Parts of type `message/delivery-status` (RFC 3464). */
  statuses: readonly string[];
  /** Parts of type `message/feedback-report` (RFC 5965). */
  feedbacks: readonly string[];
};

/** Longer mails are cut. A report with the headers of its mail has 2 to 5 KB. */
export const mailMaxBytes = 64 * 1_024;
/** Reports have three levels. */
const depthMax = 16;
const textMax = 16_000;
const headerMax = 4_000;
/** A line, and one that may begin a part, cost more than their bytes. */
const [linesMax, boundariesMax] = [4_000, 500];
const [lf, cr] = [0x0a, 0x0d];

/** Undefined for bytes that are no mail. The mail that is returned is not looked into. */
export async function parseReturnedMail(given: Uint8Array): Promise<ReturnedMail | undefined> {
  const bytes = bounded(given);
  const options = { forceRfc822Attachments: true, maxNestingDepth: depthMax };
  const mail = await PostalMime.parse(bytes, options).catch(() => undefined);
  if (!mail) return undefined;
  const partsOf = (type: string) =>
    mail.attachments.filter(({ mimeType }) => mimeType === type).map(textOf);
  return {
    header(name) {
      const value = mail.headers.find(({ key }) => key === name)?.value ?? '';
      return decodeWords(value.slice(0, headerMax)).trim();
    },
    text: ownText(mail.text ?? (mail.html ? withoutTags(mail.html) : bodyOf(bytes))).slice(
      0,
      textMax,
    ),
    statuses: partsOf('message/delivery-status'),
    feedbacks: partsOf('message/feedback-report'),
  };
}

function textOf({ content }: Attachment): string {
  return typeof content === 'string' ? content : new TextDecoder().decode(content);
}

/** Cut before it has too many lines or parts. Lines of old systems end with CR alone. */
function bounded(given: Uint8Array): Buffer {
  const bytes = Buffer.from(given.subarray(0, mailMaxBytes));
  if (!bytes.includes(lf))
    for (const [at, byte] of bytes.entries()) if (byte === cr) bytes[at] = lf;
  return before(before(bytes, '\n', linesMax), '\n--', boundariesMax);
}

/** The bytes before a text comes once more than `max` times. */
function before(bytes: Buffer, text: string, max: number): Buffer {
  let at = bytes.indexOf(text);
  for (let count = 0; at !== -1 && count < max; count += 1)
    at = bytes.indexOf(text, at + text.length);
  return at === -1 ? bytes : bytes.subarray(0, at);
}

/** As it is, for a mail whose parts are not where its header says. */
function bodyOf(bytes: Uint8Array): string {
  const all = new TextDecoder().decode(bytes);
  return all.slice(/\r?\n\r?\n|$/.exec(all)?.index);
}

/** Lines before which servers put what they say, and behind which they quote the mail. */
const beforeQuote =
  /^[-_=*|#> \t]{0,80}(?:below this line is a copy|this is a copy of (?:the|your) message|(?:the )?(?:original|undelivered|returned|unsent) (?:message|mail)\b|message (?:header|text|contents?)\b|the (?:header|first \d+ lines|body) of the (?:original )?message|(?:your|the) original message|received: )/im;

function ownText(text: string): string {
  const quote = beforeQuote.exec(text);
  return quote && text.slice(0, quote.index).trim() !== '' ? text.slice(0, quote.index) : text;
}

/** In time in proportion to the text, whatever it holds. */
function withoutTags(html: string): string {
  return html
    .split('<')
    .map((piece) => piece.slice(piece.indexOf('>') + 1))
    .join(' ');
}
