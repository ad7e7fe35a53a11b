import { randomBytes } from 'node:crypto';
import type { MailgunSettings } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { MailParts } from '../../mime/mail.ts';
import type { ApiAnswer, HttpApi, MailPart } from '../http/api.ts';
import { checkAddresses, checkSize, messageIdName } from '../http/mail-fields.ts';
import { mimeOf } from '../http/mime.ts';
import { accepted, at, bounced, byStatus, outage, textAt } from '../http/outcome.ts';
import type { SendOutcome } from '../outcome.ts';
import type { Outgoing } from '../outgoing.ts';

/** documentation.mailgun.com, user manual, sending messages: with files, encoded. */
const sizeMaxMb = 25;

const boundary = `=_${randomBytes(12).toString('hex')}`;

/** Mailgun's API of a domain. It keeps Message-ID. */
export function mailgunApi({ apiKey, domain }: MailgunSettings, origin: string): HttpApi {
  const path = `/v3/${encodeURIComponent(domain)}/messages.mime`;
  const headers = {
    authorization: `Basic ${Buffer.from(`api:${apiKey}`).toString('base64')}`,
    'content-type': `multipart/form-data; boundary="${boundary}"`,
  };
  return {
    origin,
    takesMime: { sizeMaxMb },
    part: partOf,
    request: ([part]) => ({ path, headers, body: part?.body ?? '' }),
    outcomes: (answer, sent) => sent.map((outgoing) => outcomeOf(answer, outgoing)),
  };
}

function partOf(mail: MailParts, outgoing: Outgoing): MailPart {
  checkAddresses(outgoing);
  const mime = mimeOf(mail);
  checkSize(mime.length, sizeMaxMb);
  const fields = [
    ...[outgoing.to, ...outgoing.copies].map((to) => field('to', to)),
    // The recipient sees it, in X-Mailgun-Variables.
    field(`v:${messageIdName}`, outgoing.id),
    // Postrider has links and pixels of its own.
    field('o:tracking', 'no'),
  ].join('');
  const file = `--${boundary}\r\nContent-Disposition: form-data; name="message"; filename="mail.eml"\r\nContent-Type: message/rfc822\r\n\r\n`;
  return {
    body: Buffer.concat([Buffer.from(fields + file), mime, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}

function field(name: string, value: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}

function outcomeOf(answer: ApiAnswer, { copies }: Outgoing): SendOutcome {
  const { json, status, text } = answer;
  const id = at(json, 'id');
  // A wrong key is answered by a text.
  const words = textAt(json, 'message') || (json === undefined ? text : '');
  // Reports name it without the brackets.
  if (status === 200 && typeof id === 'string') {
    return accepted(answer, { id: id.replace(/^<|>$/g, ''), words });
  }
  if (status === 400 && /not a valid address/i.test(words)) {
    if (/\bfrom\b/i.test(words)) return outage(answer, words);
    // All recipients are in `to`: it may be a copy that is wrong.
    if (copies.length === 0) return bounced(answer, words);
  }
  return byStatus(answer, words);
}
