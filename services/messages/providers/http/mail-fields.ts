import type { MailFile } from '../../mime/files.ts';
import { asciiDomain, cleanText, type HeaderField, type Mailbox } from '../../mime/headers.ts';
import { type MailParts, wholeText } from '../../mime/mail.ts';
import type { Outgoing } from '../outgoing.ts';
import { UntakenError } from './api.ts';

/** A mail as APIs want it that write MIME themselves. Mailboxes have their domains in ASCII. */
export type MailFields = {
  from: NamedMailbox;
  to: NamedMailbox;
  /** Copies that everybody sees, and those that nobody does. */
  cc: readonly string[];
  bcc: readonly string[];
  replyTo: NamedMailbox | undefined;
  subject: string;
  /** Empty texts of a mail that has none. */
  text: string;
  html: string;
  messageId: string;
  /** All other header fields, in order, in ASCII. */
  others: readonly (readonly [name: string, value: string])[];
  files: readonly MailFile[];
};

/** The name is one line, and may be empty. */
export type NamedMailbox = { email: string; name: string };

/** By this name each provider is given the id of a message, so that its reports say it. */
export const messageIdName = 'postrider_message_id';

/** The fields that an API has a place of its own for, or writes itself. */
const placed = new Set(['from', 'to', 'cc', 'reply-to', 'subject', 'date', 'message-id']);

/** Reads the fields of a mail. Throws where an address has characters that no HTTP API takes. */
export function fieldsOf(mail: MailParts, outgoing: Outgoing): MailFields {
  checkAddresses(outgoing);
  const { headers } = mail;
  const from = mailboxOf(headers, 'From') ?? { email: outgoing.from, name: '' };
  const shown = new Set(mailboxesOf(headers, 'Cc').map(({ email }) => email));
  return {
    from,
    to: { email: outgoing.to, name: mailboxOf(headers, 'To')?.name ?? '' },
    cc: outgoing.copies.filter((copy) => shown.has(copy)),
    bcc: outgoing.copies.filter((copy) => !shown.has(copy)),
    replyTo: mailboxOf(headers, 'Reply-To'),
    subject: cleanText(wordsOf(headers, 'Subject')),
    text: wholeText(mail.text),
    html: wholeText(mail.html ?? []),
    messageId: wordsOf(headers, 'Message-ID'),
    others: headers
      .filter(({ name }) => !placed.has(name.toLowerCase()))
      .map((field) => [field.name, asciiValue(field)] as const),
    files: mail.files,
  };
}

/** Local parts in other characters than ASCII are refused by these providers, or mangled. */
export function checkAddresses({ from, to, copies }: Outgoing): void {
  if ([from, to, ...copies].every((address) => /^[\x21-\x7e]+$/.test(asciiDomain(address)))) return;
  throw new UntakenError('an address has characters before its @ that the provider cannot take');
}

/** Whether the mail goes to a list, or to whoever may leave. */
export function canBeLeft({ headers }: MailParts): boolean {
  return headers.some(({ name }) => name === 'List-Unsubscribe');
}

/** Throws for a mail above the size that a provider takes. */
export function checkSize(sizeBytes: number, mostMb: number): void {
  if (sizeBytes <= mostMb * 1_000_000) return;
  throw new UntakenError(`the mail is larger than the ${mostMb} MB that the provider takes`);
}

/** Files as JSON, which has them in base64. */
export function base64Of({ content }: MailFile): string {
  return content.toString('base64');
}

/** Words that a name can't have where an API reads `name <address>` without quotes. */
const specials = /[()<>[\]:;@\\,."]+/g;

/** The name without characters that end it; spaces in their place. */
export function plainName(name: string): string {
  return name.replace(specials, ' ').replace(/ +/g, ' ').trim();
}

function mailboxesOf(headers: readonly HeaderField[], name: string): NamedMailbox[] {
  const value = headers.find((field) => field.name === name)?.value ?? [];
  return typeof value === 'string' ? [] : value.map(namedMailbox);
}

function mailboxOf(headers: readonly HeaderField[], name: string): NamedMailbox | undefined {
  return mailboxesOf(headers, name)[0];
}

function namedMailbox({ email, name = '' }: Mailbox): NamedMailbox {
  return { email: asciiDomain(email), name: cleanText(name) };
}

function wordsOf(headers: readonly HeaderField[], name: string): string {
  const value = headers.find((field) => field.name === name)?.value ?? '';
  return typeof value === 'string' ? value : '';
}

/** As MIME writes it, in one line: other characters than ASCII are encoded words. */
function asciiValue({ name, line }: HeaderField): string {
  return line
    .slice(name.length + 1)
    .replace(/\r\n(?=[ \t])/g, '')
    .trim();
}
