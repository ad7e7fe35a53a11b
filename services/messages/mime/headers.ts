import { domainToASCII } from 'node:url';

/** RFC 5322: lines should not pass 78 characters, without the line's end. */
const lineLimit = 78;
/**
 * 42 bytes are 68 characters as an encoded word, which fits behind `Reply-To: `; RFC 2047 allows
 * 75.
 */
const encodedWordBytes = 42;
/**
 * Single spaces between words of printable ASCII; one of 60 characters is encoded, so that it can
 * be cut.
 */
const plainWords = /^[\x21-\x7e]{1,59}(?: [\x21-\x7e]{1,59})*$/;
/** Without a limit a subject or a name could make a header of any size. */
const textLimit = 2_000;

export interface Mailbox {
  email: string;
  name?: string;
}

/** A header field of a mail. */
export type HeaderField = {
  name: string;
  /** Words, or mailboxes. */
  value: string | readonly Mailbox[];
  /** As MIME writes it: in ASCII, folded, with the line's end. */
  line: string;
};

/** Free text; nothing in it can start another field. */
export function textHeader(name: string, text: string): HeaderField {
  return { name, value: text, line: textLine(name, text) };
}

function textLine(name: string, text: string): string {
  if (isPlainLine(name, text)) return `${name}: ${text}\r\n`;
  const clean = cleanText(text);
  return isEncodable(clean)
    ? foldWords(`${name}:`, encodedWords(clean))
    : foldWords(`${name}:`, clean.split(' '));
}

/** Whether cleaning and folding would leave the text as it is. */
function isPlainLine(name: string, text: string): boolean {
  const fits = name.length + 2 + text.length <= lineLimit;
  return fits && plainWords.test(text) && !text.includes('=?');
}

export function mailboxHeader(name: string, mailbox: Mailbox): HeaderField {
  const address = `<${asciiDomain(mailbox.email)}>`;
  const display = displayName(mailbox.name ?? '');
  const words = display.length === 0 ? [address.slice(1, -1)] : [...display, address];
  return { name, value: [mailbox], line: foldWords(`${name}:`, words) };
}

/** A machine-readable value; characters that are not visible ASCII are left out. */
export function tokenHeader(name: string, token: string): HeaderField {
  const value = token.replace(/[^\x20-\x7e]/g, '');
  return { name, value, line: `${name}: ${value}\r\n` };
}

/** List-ID: `label <id>`. */
export function listIdHeader(label: string, id: string): HeaderField {
  const name = 'List-ID';
  const inBrackets = `<${id.replace(/[^A-Za-z0-9._-]/g, '')}>`;
  const line = foldWords(`${name}:`, [...displayName(label), inBrackets]);
  return { name, value: `${label} ${inBrackets}`.trim(), line };
}

/** The words of a display name: an atom as it is, else quoted, else encoded. */
function displayName(name: string): string[] {
  const clean = cleanText(name);
  if (clean === '') return [];
  if (isEncodable(clean) || clean.length > 60) return encodedWords(clean);
  if (/^[A-Za-z0-9 !#$%&'*+/?^_`{|}~-]+$/.test(clean)) return clean.split(' ');
  return `"${clean.replace(/["\\]/g, '\\$&')}"`.split(' ');
}

/** Control characters and Unicode's own line ends become spaces, which then collapse. */
export function cleanText(text: string): string {
  const oneLine = text
    .slice(0, textLimit)
    .replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ')
    .trim();
  return oneLine.toWellFormed();
}

/**
 * Text that is not plain ASCII, looks like an encoded word itself, or has a word too long for a
 * line.
 */
function isEncodable(text: string): boolean {
  return !/^[\x20-\x7e]*$/.test(text) || text.includes('=?') || /\S{60}/.test(text);
}

/** RFC 2047, base64, never a character cut in two. */
function encodedWords(text: string): string[] {
  const words: string[] = [];
  let chunk = '';
  let bytes = 0;
  for (const character of text) {
    const size = Buffer.byteLength(character);
    if (bytes + size > encodedWordBytes) {
      words.push(encodedWord(chunk));
      chunk = '';
      bytes = 0;
    }
    chunk += character;
    bytes += size;
  }
  if (chunk !== '') words.push(encodedWord(chunk));
  return words;
}

function encodedWord(text: string): string {
  return `=?UTF-8?B?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}

function foldWords(start: string, words: string[]): string {
  let header = start;
  let column = start.length;
  for (const word of words) {
    // A first line of only white space is legal but often misread, so the first word stays on it.
    if (column + 1 + word.length > lineLimit && column > start.length) {
      header += `\r\n ${word}`;
      column = 1 + word.length;
    } else {
      header += ` ${word}`;
      column += 1 + word.length;
    }
  }
  return `${header}\r\n`;
}

/**
 * A field of the caller's own; runs of spaces become one, so that no line has white space only.
 * ASCII stays as it is: an encoded Message-ID would name no message.
 */
export function ownHeader(name: string, value: string): HeaderField {
  const line = /^[\x20-\x7e]*$/.test(value)
    ? foldWords(`${name}:`, value.trim().split(/ +/))
    : textLine(name, value);
  return { name, value, line };
}

/** Several mailboxes, folded between them. */
export function mailboxesHeader(name: string, emails: readonly string[]): HeaderField {
  const last = emails.length - 1;
  const words = emails.map((email, index) => asciiDomain(email) + (index < last ? ',' : ''));
  return {
    name,
    value: emails.map((email) => ({ email })),
    line: foldWords(`${name}:`, words),
  };
}

/** Characters of a value in RFC 2231's form in one line, which ends before 78. */
const parameterLine = 60;

/** A parameter on lines of its own: quoted if it is short ASCII, else in the form of RFC 2231. */
export function fileNameParameter(name: string, filename: string): string {
  const clean = cleanText(filename);
  if (/^[\x20-\x7e]{0,60}$/.test(clean)) {
    return `\r\n ${name}="${clean.replace(/["\\]/g, '\\$&')}"`;
  }
  const encoded = `UTF-8''${encodeURIComponent(clean).replace(/['()*!]/g, percentEncoded)}`;
  // An escape is not cut in two: some readers decode each part by itself.
  const parts = encoded.match(new RegExp(`(?:%..|[^%]){1,${parameterLine / 3}}`, 'g')) ?? [];
  if (parts.length === 1) return `\r\n ${name}*=${encoded}`;
  return parts.map((part, index) => `\r\n ${name}*${index}*=${part}`).join(';');
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** The address with its domain in ASCII: not every server on the way takes other characters. */
export function asciiDomain(email: string): string {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1);
  if (/^[\x21-\x7e]*$/.test(domain)) return email;
  return `${email.slice(0, at)}@${domainToASCII(domain)}`;
}

/** The domain of an address as domains are named: in lower case, in ASCII. */
export function domainOf(email: string): string {
  return (asciiDomain(email).split('@').at(-1) ?? '').toLowerCase();
}

const addressPattern = /^[^\s<>@\p{Cc}"(),:;\\[\]]+@[^\s<>@\p{Cc}"(),:;\\[\]]+$/u;

/** Whether the address can stand in an envelope and a header without quoting. */
export function isSendable(email: string): boolean {
  return (
    email.length <= 254 && addressPattern.test(email) && asciiDomain(email).split('@')[1] !== ''
  );
}
