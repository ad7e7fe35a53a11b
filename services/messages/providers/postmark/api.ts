import type { PostmarkSettings } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { MailParts } from '../../mime/mail.ts';
import { type HttpApi, type MailPart, UntakenError } from '../http/api.ts';
import {
  base64Of,
  canBeLeft,
  checkSize,
  fieldsOf,
  messageIdName,
  type NamedMailbox,
} from '../http/mail-fields.ts';
import {
  accepted,
  at,
  bounced,
  byStatus,
  deferred,
  failed,
  listAt,
  outage,
  refused,
  type Status,
  textAt,
} from '../http/outcome.ts';
import type { SendOutcome } from '../outcome.ts';
import type { Outgoing } from '../outgoing.ts';

/** postmarkapp.com/support/article/1056: of a mail as it is sent, with its files in base64. */
const sizeMaxMb = 10;
/** postmarkapp.com/developer/user-guide/send-email-with-api/batch-emails. */
const batch = { countMax: 500, bytesMax: 50_000_000 };
/** postmarkapp.com/support/article/1180: To, Cc and Bcc together. */
const recipientsMax = 50;

/**
 * Meanings of `ErrorCode` (postmarkapp.com/developer/api/overview#error-codes): 10 token; 400 and
 * 401 sender signature; 405 credits; 412 and 413 account; 1235 and 1236 message stream.
 */
const accountCodes = new Set([10, 400, 401, 405, 412, 413, 1235, 1236]);
/** 100 maintenance, 429 rate. */
const laterCodes = new Set([100, 429]);
/** Of a kind of attachment that is forbidden. */
const fileCode = 411;
const inactiveCode = 406;
const invalidCode = 300;

/** Postmark's API of a server. */
export function postmarkApi(settings: PostmarkSettings, origin: string): HttpApi {
  const { serverToken, messageStream, broadcastStream } = settings;
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    'x-postmark-server-token': serverToken,
  };
  return {
    origin,
    batch,
    part: (mail, outgoing) =>
      partOf(mail, outgoing, canBeLeft(mail) ? broadcastStream : messageStream),
    request: ([first, ...others]) =>
      others.length === 0
        ? { path: '/email', headers, body: first?.body ?? '' }
        : {
            path: '/email/batch',
            headers,
            body: `[${[first, ...others].map((part) => part?.body).join(',')}]`,
          },
    outcomes: (answer, sent) => {
      if (sent.length === 1)
        return sent.map((outgoing) => outcomeOf(answer, answer.json, outgoing));
      if (Array.isArray(answer.json)) {
        return listAt(answer.json).map((each, index) => outcomeOf(answer, each, sent[index]));
      }
      const code = Number(at(answer.json, 'ErrorCode'));
      if (accountCodes.has(code) || laterCodes.has(code) || answer.status !== 422) {
        return sent.map((outgoing) => outcomeOf(answer, answer.json, outgoing));
      }
      return 'separately';
    },
  };
}

function partOf(mail: MailParts, outgoing: Outgoing, stream: string): MailPart {
  const { copies } = outgoing;
  if (copies.length >= recipientsMax) {
    throw new UntakenError(`Postmark takes at most ${recipientsMax} recipients of a mail`);
  }
  const { from, to, cc, bcc, replyTo, subject, text, html, messageId, others, files } = fieldsOf(
    mail,
    outgoing,
  );
  const body = JSON.stringify({
    From: written(from),
    To: written(to),
    ...(cc.length > 0 && { Cc: cc.join(', ') }),
    ...(bcc.length > 0 && { Bcc: bcc.join(', ') }),
    ...(replyTo && { ReplyTo: written(replyTo) }),
    Subject: subject,
    ...(text !== '' && { TextBody: text }),
    ...(html !== '' && { HtmlBody: html }),
    MessageStream: stream,
    // A name has at most 20 characters, which this one has.
    Metadata: { [messageIdName]: outgoing.id },
    // Postrider has links and pixels of its own.
    TrackOpens: false,
    TrackLinks: 'None',
    Headers: [
      ...(messageId === '' ? [] : [{ Name: 'Message-ID', Value: messageId }]),
      { Name: 'X-PM-KeepID', Value: 'true' },
      ...others.map(([name, value]) => ({ Name: name, Value: value })),
    ],
    ...(files.length > 0 && {
      Attachments: files.map((file) => ({
        Name: file.filename,
        Content: base64Of(file),
        ContentType: file.contentType,
        ...(file.contentId !== undefined && { ContentID: `cid:${file.contentId}` }),
      })),
    }),
  });
  checkSize(Buffer.byteLength(body), sizeMaxMb);
  return { body };
}

/** Names with punctuation must be quoted (postmarkapp.com/support/article/1180). */
function written({ email, name }: NamedMailbox): string {
  return name === '' ? email : `"${name.replace(/["\\]/g, '')}" <${email}>`;
}

/** The outcome of one mail: `json` is its answer, alone or in a batch. */
function outcomeOf(status: Status, json: unknown, outgoing: Outgoing | undefined): SendOutcome {
  const words = textAt(json, 'Message');
  const code = at(json, 'ErrorCode');
  const own = { ...status, status: typeof code === 'number' && code !== 0 ? code : status.status };
  // A mail whose delivery may be delayed has no code.
  const isLate = code === undefined && typeof at(json, 'MessageID') === 'string';
  if (code === 0 || (isLate && status.status < 300)) {
    return isInactive(words, outgoing)
      ? bounced(status, words)
      : accepted(status, { id: at(json, 'MessageID'), words });
  }
  if (typeof code !== 'number' || status.status >= 500) return byStatus(status, words);
  if (laterCodes.has(code)) return deferred(own, words);
  if (accountCodes.has(code)) return outage(own, words);
  if (code === inactiveCode) {
    const isOwn = !outgoing?.copies.length || isInactive(words, outgoing);
    return isOwn ? bounced(own, words) : failed(own, words);
  }
  if (code === fileCode) return failed(own, words);
  if (code !== invalidCode)
    return status.status === 200 ? refused(own, words) : byStatus(status, words);
  if (/'(?:from)'/i.test(words)) return outage(own, words);
  return /'to'/i.test(words) ? bounced(own, words) : refused(own, words);
}

/** Whether the words name the recipient among addresses that get no mail. */
function isInactive(words: string, outgoing: Outgoing | undefined): boolean {
  if (!outgoing || !/inactive/i.test(words)) return false;
  return words
    .toLowerCase()
    .split(/[\s,;]+/)
    .some((word) => word.replace(/\.$/, '') === outgoing.to.toLowerCase());
}
