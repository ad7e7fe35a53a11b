/*
 * Reads a mail that an application wrote, and makes it ready to go out as it came.
 *
 * Order: lines, header, its sender, our fields in it, then the bytes that go out: fields are left
 * out of the header or added at its end, and nothing else changes, so that a signature of the
 * mail's origin stays right.
 *
 * Limits: 26,000,000 bytes with stuffed dots, so that it fits into a buffer with its signature; the
 * header that DKIM reads; 1,000 fields; 100 servers that have passed it on (a loop, RFC 5321, 6.3).
 */

import { decodeWords } from 'postal-mime';
import { canonicalAddress } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { mailMaxBytes } from '../mime/buffer.ts';
import { fieldsOf, headOf, type WrittenField } from '../mime/head.ts';
import { asciiDomain } from '../mime/headers.ts';
import { type Control, isRemoved, readControl } from './control-fields.ts';
import { mailboxIn } from './from.ts';
import { readLines } from './lines.ts';
import { inOneLine } from './one-line.ts';

const headMaxBytes = 200 * 1024;
const fieldsMax = 1_000;
const hopsMax = 100;
/** As the history shows it. */
const textMax = 255;

export type RelayedMail = {
  /** The mail as it goes out. */
  bytes: Buffer;
  subject: string;
  from: { email: string; name: string };
  control: Control;
  /** Whether its origin has signed it (DKIM). */
  isSigned: boolean;
};

/** Throws a 400 that names `from` or `mail`. */
export async function readRelayedMail(given: Buffer): Promise<RelayedMail> {
  const { fault, dots } = await readLines(given);
  if (fault) throw wrongMail(fault);
  const mail = given.subarray(-2).equals(lineEnd) ? given : Buffer.concat([given, lineEnd]);
  if (mail.length + dots > mailMaxBytes) throw wrongMail('the mail is too large');
  const head = headOf(mail);
  if (head.length > headMaxBytes) throw wrongMail('the header is larger than 200 KiB');
  const fields = fieldsOf(head);
  if (!fields) throw wrongMail('a line of the header is no field');
  if (fields.length > fieldsMax) throw wrongMail(`the header has more than ${fieldsMax} fields`);
  const hops = fieldsNamed(fields, 'received').length;
  if (hops > hopsMax) throw wrongMail('too many servers have passed the mail on');
  const from = senderOf(fields);
  return {
    bytes: withoutRemoved(mail, { head, fields, from: from.email }),
    subject: shownText(fieldsNamed(fields, 'subject')[0]?.value ?? ''),
    from: { email: from.email, name: shownText(from.name) },
    control: readControl(fields),
    isSigned: fieldsNamed(fields, 'dkim-signature').length > 0,
  };
}

const wrongMail = (text: string) => invalidField('mail', text);

const lineEnd = Buffer.from('\r\n');

function fieldsNamed(fields: readonly WrittenField[], name: string): WrittenField[] {
  return fields.filter((field) => field.name.toLowerCase() === name);
}

/** Of From, which is there once. Sender may name no other address. */
function senderOf(fields: readonly WrittenField[]): { email: string; name: string } {
  const [from, ...others] = fieldsNamed(fields, 'from');
  if (!from || others.length > 0) throw invalidField('from', 'the mail needs one From');
  const mailbox = mailboxIn(from.value);
  const email = mailbox && canonicalAddress(mailbox.email);
  if (!mailbox || !email) throw invalidField('from', 'From must be one address');
  for (const { value } of fieldsNamed(fields, 'sender')) {
    if (canonicalAddress(mailboxIn(value)?.email ?? '') !== email) {
      throw invalidField('from', 'Sender must be the address of From');
    }
  }
  return { email, name: mailbox.name };
}

type Header = { head: Buffer; fields: readonly WrittenField[]; from: string };

/** The bytes as they are, where nothing is to change. */
function withoutRemoved(mail: Buffer, { head, fields, from }: Header): Buffer {
  const kept = fields.filter((field) => !isRemoved(field));
  const has = (name: string) => fieldsNamed(kept, name).length > 0;
  const added = [
    ...(has('date') ? [] : [`Date: ${new Date().toUTCString().replace('GMT', '+0000')}\r\n`]),
    ...(has('message-id')
      ? []
      : [`Message-ID: <${crypto.randomUUID()}@${asciiDomain(from).split('@').at(-1)}>\r\n`]),
  ].join('');
  const rest = mail.subarray(head.length);
  // A header that nothing follows ends with an empty line as well.
  const body = rest.length === 0 ? lineEnd : rest;
  if (kept.length === fields.length && added === '' && body === rest) return mail;
  return Buffer.concat([...kept.map(({ bytes }) => bytes), Buffer.from(added), body]);
}

/** In one line of a bounded length, decoded. */
function shownText(value: string): string {
  const text = inOneLine(decodeWords(value.slice(0, 4 * textMax)));
  return [...text.toWellFormed()].slice(0, textMax).join('').trim();
}
