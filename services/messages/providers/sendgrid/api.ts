import type { SendGridSettings } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { MailParts } from '../../mime/mail.ts';
import type { ApiAnswer, HttpApi, MailPart } from '../http/api.ts';
import {
  base64Of,
  checkSize,
  fieldsOf,
  messageIdName,
  type NamedMailbox,
} from '../http/mail-fields.ts';
import { accepted, bounced, byStatus, deferred, outage, textAt } from '../http/outcome.ts';
import type { SendOutcome } from '../outcome.ts';
import type { Outgoing } from '../outgoing.ts';

/** twilio.com/docs/sendgrid/api-reference/mail-send/limitations: with files in base64. */
const sizeMaxMb = 30;

/** SendGrid's API of an account. It writes Message-ID and Date itself. */
export function sendgridApi({ apiKey }: SendGridSettings, origin: string): HttpApi {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  return {
    origin,
    part: partOf,
    request: ([part]) => ({ path: '/v3/mail/send', headers, body: part?.body ?? '' }),
    outcomes: (answer, sent) => sent.map(() => outcomeOf(answer)),
  };
}

function partOf(mail: MailParts, outgoing: Outgoing): MailPart {
  const fields = fieldsOf(mail, outgoing);
  const { from, to, cc, bcc, replyTo, subject, text, html, others, files } = fields;
  const mailboxes = (emails: readonly string[]) => emails.map((email) => ({ email }));
  const body = JSON.stringify({
    personalizations: [
      {
        to: [written(to)],
        ...(cc.length > 0 && { cc: mailboxes(cc) }),
        ...(bcc.length > 0 && { bcc: mailboxes(bcc) }),
        custom_args: { [messageIdName]: outgoing.id },
      },
    ],
    from: written(from),
    ...(replyTo && { reply_to: written(replyTo) }),
    subject,
    // The text must stand first.
    content: [
      ...(text === '' ? [] : [{ type: 'text/plain', value: text }]),
      ...(html === '' ? [] : [{ type: 'text/html', value: html }]),
    ],
    headers: Object.fromEntries(others),
    // Postrider has links, pixels and ways to unsubscribe of its own.
    tracking_settings: {
      click_tracking: { enable: false, enable_text: false },
      open_tracking: { enable: false },
      subscription_tracking: { enable: false },
    },
    ...(files.length > 0 && {
      attachments: files.map((file) => ({
        content: base64Of(file),
        type: file.contentType,
        filename: file.filename,
        ...(file.contentId === undefined
          ? { disposition: 'attachment' }
          : { disposition: 'inline', content_id: file.contentId }),
      })),
    }),
  });
  checkSize(Buffer.byteLength(body), sizeMaxMb);
  return { body };
}

function written({ email, name }: NamedMailbox): object {
  return name === '' ? { email } : { email, name };
}

function outcomeOf(answer: ApiAnswer): SendOutcome {
  const { json, status, headers } = answer;
  // The answer has no body.
  if (status === 202) return accepted(answer, { id: headers['x-message-id'] });
  const words = textAt(json, 'errors', 0, 'message');
  const field = textAt(json, 'errors', 0, 'field');
  if (status === 400 && /^personalizations\b.*\bto\b/.test(field)) return bounced(answer, words);
  if (status === 400 && /^from\b/.test(field)) return outage(answer, words);
  if (status === 429 && headers['retry-after'] === undefined) {
    return deferred(answer, words, resetMs(headers['x-ratelimit-reset']));
  }
  return byStatus(answer, words);
}

/** Until the second of a Unix time (twilio.com/docs/sendgrid/api-reference, rate limits). */
function resetMs(header: string | string[] | undefined): number {
  const seconds = typeof header === 'string' && /^\d{1,11}$/.test(header) ? Number(header) : 0;
  return Math.max(0, seconds * 1_000 - Date.now());
}
