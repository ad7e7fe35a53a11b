import type { BrevoSettings } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { html as preformatted } from '#lib/html/template.ts';
import type { MailParts } from '../../mime/mail.ts';
import { type ApiAnswer, type HttpApi, type MailPart, UntakenError } from '../http/api.ts';
import {
  base64Of,
  checkSize,
  fieldsOf,
  messageIdName,
  type NamedMailbox,
  plainName,
} from '../http/mail-fields.ts';
import { accepted, at, bounced, byStatus, deferred, outage, textAt } from '../http/outcome.ts';
import type { SendOutcome } from '../outcome.ts';
import type { Outgoing } from '../outgoing.ts';

/** help.brevo.com: of a mail with its files in base64. */
const sizeMaxMb = 20;

/** An encoded word is decoded by Brevo, and sent as bytes that servers refuse. */
const encodedWord = /=\?[^?\s]+\?[bq]\?/i;

/** Brevo's API of an account. It writes Message-ID and Date itself. */
export function brevoApi({ apiKey }: BrevoSettings, origin: string): HttpApi {
  const headers = {
    'api-key': apiKey,
    'content-type': 'application/json',
    accept: 'application/json',
  };
  return {
    origin,
    part: partOf,
    request: ([part]) => ({ path: '/v3/smtp/email', headers, body: part?.body ?? '' }),
    outcomes: (answer, sent) => sent.map(() => outcomeOf(answer)),
  };
}

function partOf(mail: MailParts, outgoing: Outgoing): MailPart {
  const fields = fieldsOf(mail, outgoing);
  const { from, to, cc, bcc, replyTo, subject, text, html, others, files } = fields;
  if (files.some(({ contentId }) => contentId !== undefined)) {
    throw new UntakenError('Brevo takes no inline files');
  }
  const mailboxes = (emails: readonly string[]) => emails.map((email) => ({ email }));
  const body = JSON.stringify({
    sender: written(from),
    to: [written(to)],
    ...(cc.length > 0 && { cc: mailboxes(cc) }),
    ...(bcc.length > 0 && { bcc: mailboxes(bcc) }),
    ...(replyTo && { replyTo: written(replyTo) }),
    subject,
    // Brevo takes no mail without HTML.
    htmlContent: html === '' ? preformatted`<pre>${text}</pre>`.html : html,
    ...(text !== '' && { textContent: text }),
    headers: {
      ...Object.fromEntries(others.map(([name, value]) => [name, inAscii(name, value)])),
      // The recipient sees it.
      'X-Mailin-custom': JSON.stringify({ [messageIdName]: outgoing.id }),
    },
    ...(files.length > 0 && {
      attachment: files.map((file) => ({ name: file.filename, content: base64Of(file) })),
    }),
  });
  checkSize(Buffer.byteLength(body), sizeMaxMb);
  return { body };
}

/** A list's id says enough without its name. */
function inAscii(name: string, value: string): string {
  if (!encodedWord.test(value)) return value;
  if (name === 'List-ID') return value.slice(value.lastIndexOf('<'));
  throw new UntakenError(`Brevo takes ${name} in ASCII alone`);
}

/** A name with a comma and other characters than ASCII is left out by Brevo. */
function written({ email, name }: NamedMailbox): object {
  const plain = /^[\x20-\x7e]*$/.test(name) ? name : plainName(name);
  return plain === '' ? { email } : { email, name: plain };
}

function outcomeOf(answer: ApiAnswer): SendOutcome {
  const { json, status, headers } = answer;
  const id = at(json, 'messageId');
  if (status < 300 && typeof id === 'string') return accepted(answer, { id });
  const words = [textAt(json, 'code'), textAt(json, 'message')].join(' ').trim();
  if (status === 400 && /\bin to\b|\bto is (?:not valid|missing)/i.test(words)) {
    return bounced(answer, words);
  }
  if (status === 400 && /\bsender\b/i.test(words)) return outage(answer, words);
  if (status === 429 && headers['retry-after'] === undefined) {
    return deferred(answer, words, resetMs(headers['x-sib-ratelimit-reset']));
  }
  return byStatus(answer, words);
}

/** In seconds (developers.brevo.com/docs/api-limits). */
function resetMs(header: string | string[] | undefined): number {
  return typeof header === 'string' && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : 0;
}
