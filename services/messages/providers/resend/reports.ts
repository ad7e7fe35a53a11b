import { timingSafeEqual } from 'node:crypto';
import { signatureOf, signerOf } from '#lib/keys/webhook-signature.ts';
import type { ReportAccount } from '../../reports/account.ts';
import {
  type EventFields,
  listIn,
  type Meaning,
  meaningIn,
  reportOf,
  reportsOf,
  textIn,
} from '../../reports/event.ts';
import { objectsIn } from '../../reports/json-reports.ts';
import { type ReportRequest, rawOf, requireRecent, WrongSignature } from '../../reports/report.ts';
import { timeIn } from '../../reports/time.ts';
import type { ReadReports } from '../provider.ts';

/*
 * Webhooks of Resend, one event each (resend.com/docs/webhooks), which Svix signs as Standard
 * Webhooks say.
 */

export const resendReports: ReadReports = (request, account) => {
  verify(request, account);
  const id = request.headers['svix-id'] ?? '';
  return reportsOf(objectsIn(request.body), (event) => read(event, id));
};

const secretPattern = /^whsec_[A-Za-z0-9+/]{16,86}={0,2}$/;

/** By the secret in the settings or the one of our own webhook. */
function verify({ body, headers, now }: ReportRequest, account: ReportAccount): void {
  const { provider, learned } = account;
  const [id = '', timestamp = '', given = ''] = ['id', 'timestamp', 'signature'].map(
    (name) => headers[`svix-${name}`],
  );
  const text = Buffer.from(body).toString();
  // One for each secret, while one replaces another.
  const signatures = given.split(' ').map((each) => Buffer.from(each));
  const isRight = [provider.resend?.webhookSecret, learned.signing_secret].some((secret = '') => {
    if (!secretPattern.test(secret)) return false;
    const right = Buffer.from(signatureOf(signerOf(secret), id, timestamp, text));
    return signatures.some((each) => each.length === right.length && timingSafeEqual(each, right));
  });
  if (!isRight) throw new WrongSignature();
  requireRecent(timestamp, now);
}

const ofEvent: Readonly<Record<string, Meaning>> = {
  'email.delivered': 'delivered',
  'email.complained': 'complaint',
  'email.failed': 'sender',
  // Of an address that is suppressed there.
  'email.suppressed': 'soft',
};

/** `subType` of a bounce, and else its `type`: they are those of SES. */
const ofBounce: Readonly<Record<string, Meaning>> = {
  Suppressed: 'soft',
  OnAccountSuppressionList: 'soft',
  MessageTooLarge: 'message',
  ContentRejected: 'message',
  AttachmentRejected: 'message',
  Permanent: 'hard',
  Transient: 'soft',
  Undetermined: 'soft',
};

function read(event: EventFields, id: string) {
  const type = textIn(event, 'type');
  const bounce = (name: string) => textIn(event, 'data', 'bounce', name);
  const [to] = listIn(event, 'data', 'to').filter((each) => typeof each === 'string');
  const codes = listIn(event, 'data', 'bounce', 'diagnosticCode').join(' ');
  return reportOf(rawOf(event), {
    key: [id],
    meaning: hasCopies(event) ? 'nothing' : meaningOf(event, type),
    email: /<([^<>]+)>\s*$/.exec(to ?? '')?.[1] ?? to ?? '',
    messageId: tagOf(event),
    providerId: textIn(event, 'data', 'email_id'),
    at: timeIn(textIn(event, 'created_at')),
    category: [bounce('type'), bounce('subType')].filter((each) => each !== '').join('/'),
    words: codes || bounce('message') || textIn(event, 'data', 'failed', 'reason'),
  });
}

/** An event does not say which recipient it is about. */
function hasCopies({ data }: EventFields): boolean {
  const isCopied = listIn(data, 'headers').some((header) => /^b?cc$/i.test(textIn(header, 'name')));
  const copies = [...listIn(data, 'cc'), ...listIn(data, 'bcc'), ...listIn(data, 'to').slice(1)];
  return isCopied || copies.length > 0;
}

function meaningOf(event: EventFields, name: string): Meaning {
  if (name !== 'email.bounced') return meaningIn(ofEvent, name, 'nothing');
  const [type = '', subtype = '', message = ''] = ['type', 'subType', 'message'].map((name) =>
    textIn(event, 'data', 'bounce', name),
  );
  const named = meaningIn(ofBounce, subtype, undefined) ?? meaningIn(ofBounce, type, undefined);
  if (named) return named;
  // Before it named types, it had these sentences, which speak of reputation as well.
  if (/suppressed sending/.test(message)) return 'soft';
  return /hard bounce message/.test(message) ? 'hard' : 'soft';
}

/** As an object, or as the list that the mail was sent with. */
function tagOf(event: EventFields): string {
  const name = 'postrider_message_id';
  const listed = listIn(event, 'data', 'tags').find((tag) => textIn(tag, 'name') === name);
  return textIn(event, 'data', 'tags', name) || textIn(listed, 'value');
}
