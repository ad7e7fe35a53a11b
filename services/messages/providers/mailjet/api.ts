import type { MailjetSettings } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { MailParts } from '../../mime/mail.ts';
import type { ApiAnswer, HttpApi, MailPart } from '../http/api.ts';
import { base64Of, checkSize, fieldsOf, type NamedMailbox } from '../http/mail-fields.ts';
import {
  accepted,
  at,
  bounced,
  byStatus,
  listAt,
  outage,
  refused,
  textAt,
} from '../http/outcome.ts';
import type { SendOutcome } from '../outcome.ts';
import type { Outgoing } from '../outgoing.ts';

/** dev.mailjet.com/email/guides/send-api-v31: messages of a call, and the size of all of it. */
const batch = { countMax: 50, bytesMax: 15_000_000 };
const sizeMaxMb = 15;

/**
 * Mailjet writes these itself, and refuses a mail that has one with `send-0011`
 * (symfony/symfony, src/Symfony/Component/Mailer/Bridge/Mailjet).
 */
const ownHeaders = new Set(['list-id', 'x-mailer', 'x-feedback-id', 'x-csa-complaints']);

/** Version 3.1 of Mailjet's API. It writes Message-ID and Date itself. */
export function mailjetApi(settings: MailjetSettings, origin: string): HttpApi {
  const { apiKey, secretKey, sandboxMode } = settings;
  const headers = {
    authorization: `Basic ${Buffer.from(`${apiKey}:${secretKey}`).toString('base64')}`,
    'content-type': 'application/json',
  };
  const sandbox = sandboxMode ? ',"SandboxMode":true' : '';
  return {
    origin,
    batch,
    part: partOf,
    request: (parts) => ({
      path: '/v3.1/send',
      headers,
      body: `{"Messages":[${parts.map(({ body }) => body).join(',')}]${sandbox}}`,
    }),
    outcomes: outcomesOf,
  };
}

function partOf(mail: MailParts, outgoing: Outgoing): MailPart {
  const fields = fieldsOf(mail, outgoing);
  const { from, to, cc, bcc, replyTo, subject, text, html, others, files } = fields;
  const mailboxes = (emails: readonly string[]) => emails.map((Email) => ({ Email }));
  const inline = files.filter(({ contentId }) => contentId !== undefined);
  const attached = files.filter(({ contentId }) => contentId === undefined);
  const body = JSON.stringify({
    From: written(from),
    To: [written(to)],
    ...(cc.length > 0 && { Cc: mailboxes(cc) }),
    ...(bcc.length > 0 && { Bcc: mailboxes(bcc) }),
    ...(replyTo && { ReplyTo: written(replyTo) }),
    Subject: subject,
    ...(text !== '' && { TextPart: text }),
    ...(html !== '' && { HTMLPart: html }),
    CustomID: outgoing.id,
    // Postrider has links and pixels of its own.
    TrackOpens: 'disabled',
    TrackClicks: 'disabled',
    Headers: Object.fromEntries(others.filter(([name]) => !ownHeaders.has(name.toLowerCase()))),
    ...(attached.length > 0 && { Attachments: attached.map(writtenFile) }),
    ...(inline.length > 0 && {
      InlinedAttachments: inline.map((file) => ({
        ...writtenFile(file),
        ContentID: file.contentId,
      })),
    }),
  });
  checkSize(Buffer.byteLength(body), sizeMaxMb);
  return { body };
}

function written({ email, name }: NamedMailbox): object {
  return name === '' ? { Email: email } : { Email: email, Name: name };
}

function writtenFile(file: MailParts['files'][number]): object {
  const { filename, contentType } = file;
  return { ContentType: contentType, Filename: filename, Base64Content: base64Of(file) };
}

/** Each message has a status of its own, whatever the answer's. Their order is that of the call. */
function outcomesOf(answer: ApiAnswer, sent: readonly Outgoing[]): readonly SendOutcome[] {
  const messages = listAt(answer.json, 'Messages');
  if (messages.length === 0) {
    return sent.map(() => byStatus(answer, textAt(answer.json, 'ErrorMessage')));
  }
  const isInOrder = messages.every((message, index) => {
    const id = at(message, 'CustomID');
    return id === undefined || id === '' || id === sent[index]?.id;
  });
  if (!isInOrder) throw new Error('the answer is about other messages');
  return messages.map((message) => outcomeOf(answer, message));
}

function outcomeOf(answer: ApiAnswer, message: unknown): SendOutcome {
  if (at(message, 'Status') === 'success') {
    // `MessageID` has more digits than a number of JSON keeps.
    return accepted({ ...answer, status: 200 }, { id: at(message, 'To', 0, 'MessageUUID') });
  }
  const error = at(message, 'Errors', 0);
  const status = { ...answer, status: Number(at(error, 'StatusCode') ?? answer.status) };
  const words = `${textAt(error, 'ErrorCode')} ${textAt(error, 'ErrorMessage')}`.trim();
  const related = listAt(error, 'ErrorRelatedTo').map(String);
  if (status.status === 400 && related.some((field) => /^To\b/.test(field))) {
    return bounced(status, words);
  }
  if (related.some((field) => /^From\b/.test(field))) return outage(status, words);
  return status.status < 300 ? refused(status, words) : byStatus(status, words);
}
