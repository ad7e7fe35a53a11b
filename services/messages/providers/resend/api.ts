import { createHash } from 'node:crypto';
import type { ResendSettings } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
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

/** resend.com/docs/api-reference/emails/send-email: with files in base64. */
const sizeMaxMb = 40;
/** The same page. */
const recipientsMax = 50;
/** resend.com/docs/api-reference/emails/send-batch-emails; no size is stated. */
const batch = { countMax: 100, bytesMax: 10_000_000 };

/** Names of errors (resend.com/docs/api-reference/errors). */
const accountErrors = new Set([
  ...['missing_api_key', 'invalid_api_key', 'restricted_api_key', 'invalid_from_address'],
  ...['daily_quota_exceeded', 'monthly_quota_exceeded', 'invalid_access'],
]);

/** Resend's API of a team. It writes Message-ID and Date itself. */
export function resendApi({ apiKey }: ResendSettings, origin: string): HttpApi {
  const always = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  return {
    origin,
    batch,
    part: partOf,
    request: ([first, ...others]) => {
      const isOne = others.length === 0;
      const bodies = [first, ...others].map((part) => part?.body);
      const body = isOne ? String(bodies[0]) : `[${bodies.join(',')}]`;
      // The same bytes are taken once in 24 hours; each mail has the id of its message in it.
      const key = createHash('sha256').update(body).digest('hex');
      const headers = { ...always, 'idempotency-key': key };
      return isOne
        ? { path: '/emails', headers, body }
        : {
            path: '/emails/batch',
            headers: { ...headers, 'x-batch-validation': 'permissive' },
            body,
          };
    },
    isUnderway: ({ status, json }) =>
      status === 409 && textAt(json, 'name') === 'concurrent_idempotent_requests',
    outcomes: (answer, sent) => {
      const { json, status } = answer;
      if (sent.length === 1 && status < 300) {
        const id = at(json, 'id');
        if (typeof id !== 'string') throw new Error('the answer has no id');
        return [accepted(answer, { id })];
      }
      if (status < 300) return outcomesOf(answer, sent.length);
      const outcome = outcomeOf(answer, json);
      const isOfOne = outcome.kind === 'bounced' || outcome.kind === 'failed';
      return sent.length > 1 && isOfOne ? 'separately' : sent.map(() => outcome);
    },
  };
}

function partOf(mail: MailParts, outgoing: Outgoing): MailPart {
  if (outgoing.copies.length >= recipientsMax) {
    throw new UntakenError(`Resend takes at most ${recipientsMax} recipients of a mail`);
  }
  const fields = fieldsOf(mail, outgoing);
  const { from, to, cc, bcc, replyTo, subject, text, html, others, files } = fields;
  const body = JSON.stringify({
    from: written(from),
    to: [written(to)],
    ...(cc.length > 0 && { cc }),
    ...(bcc.length > 0 && { bcc }),
    ...(replyTo && { reply_to: [written(replyTo)] }),
    subject,
    ...(text !== '' && { text }),
    ...(html !== '' && { html }),
    headers: Object.fromEntries(others),
    tags: [{ name: messageIdName, value: outgoing.id }],
    ...(files.length > 0 && {
      attachments: files.map((file) => ({
        filename: file.filename,
        content: base64Of(file),
        content_type: file.contentType,
        ...(file.contentId !== undefined && { content_id: file.contentId }),
      })),
    }),
  });
  checkSize(Buffer.byteLength(body), sizeMaxMb);
  return files.length > 0 ? { body, isAlone: true } : { body };
}

/** Names in quotes and encoded words are refused (anymail/django-anymail, backends/resend.py). */
function written({ email, name }: NamedMailbox): string {
  const plain = plainName(name);
  return plain === '' ? email : `${plain} <${email}>`;
}

/** Of a batch: ids of the mails that were taken, in order, and errors of the others. */
function outcomesOf(answer: ApiAnswer, count: number): readonly SendOutcome[] {
  const errors = new Map(
    listAt(answer.json, 'errors').map((error) => [at(error, 'index'), error] as const),
  );
  const ids = listAt(answer.json, 'data').map((each) => at(each, 'id'));
  if (ids.length + errors.size !== count) throw new Error('the answer is about other mails');
  return Array.from({ length: count }, (_, index) => {
    const error = errors.get(index);
    return error === undefined
      ? accepted(answer, { id: ids.shift() })
      : outcomeOf({ ...answer, status: 422 }, error);
  });
}

function outcomeOf(answer: ApiAnswer, json: unknown): SendOutcome {
  const name = textAt(json, 'name');
  const text = textAt(json, 'message');
  const words = `${name} ${text}`.trim();
  if (accountErrors.has(name)) return outage(answer, words);
  const isInvalid = answer.status === 400 || answer.status === 422;
  if (isInvalid && /`to`/i.test(text)) return bounced(answer, words);
  if (isInvalid && /`from`/i.test(text)) return outage(answer, words);
  return answer.status === 409 ? refused(answer, words) : byStatus(answer, words);
}
