import { createPublicKey, type KeyObject, verify as verifySignature } from 'node:crypto';
import type { ReportAccount } from '../../reports/account.ts';
import {
  type EventFields,
  type Meaning,
  meaningIn,
  reportOf,
  reportsOf,
  textIn,
} from '../../reports/event.ts';
import { eventsMax, objectsIn } from '../../reports/json-reports.ts';
import { type ReportRequest, rawOf, requireRecent, WrongSignature } from '../../reports/report.ts';
import { timeOf } from '../../reports/time.ts';
import type { ReadReports } from '../provider.ts';

/*
 * The event webhook of SendGrid, many events in a request (twilio.com/docs/sendgrid, "Event Webhook
 * Reference"), signed with ECDSA over the time and the body.
 */

export const sendgridReports: ReadReports = (request, account) => {
  verify(request, account);
  return reportsOf(objectsIn(request.body, eventsMax), read);
};

function verify({ body, headers, now }: ReportRequest, account: ReportAccount): void {
  const header = (name: string) => headers[`x-twilio-email-event-webhook-${name}`] ?? '';
  const timestamp = header('timestamp');
  const { provider, learned } = account;
  const keys = [provider.sendgrid?.webhookPublicKey, learned.public_key].map(publicKeyOf);
  const signed = Buffer.concat([Buffer.from(timestamp), body]);
  const signature = Buffer.from(header('signature'), 'base64');
  const isRight = keys.some((key) => key && verifySignature('sha256', signed, key, signature));
  if (!isRight) throw new WrongSignature();
  requireRecent(timestamp, now);
}

/** Undefined for what is no public key. */
function publicKeyOf(base64 = ''): KeyObject | undefined {
  const text = base64.replaceAll(/-----[A-Z ]+-----|\s/g, '');
  try {
    return createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

/** `bounce_classification` of a bounce. */
const ofBounce: Readonly<Record<string, Meaning>> = {
  'invalid address': 'hard',
  'mailbox unavailable': 'soft',
  'frequency or volume too high': 'soft',
  content: 'message',
  reputation: 'sender',
  technical: 'sender',
};

/** `reason` of a mail that was not sent on. Others are of lists of addresses kept there. */
const ofDrop: Readonly<Record<string, Meaning>> = {
  invalid: 'message',
  'invalid smtpapi header': 'message',
  'spam content': 'sender',
  'recipient list over package quota': 'sender',
};

function read(event: EventFields) {
  const type = textIn(event, 'event');
  const reason = textIn(event, 'reason');
  return reportOf(rawOf(event), {
    key: [
      textIn(event, 'sg_event_id') ||
        JSON.stringify(
          ['sg_message_id', 'event', 'email', 'timestamp'].map((n) => textIn(event, n)),
        ),
    ],
    meaning: meaningOf(event, type),
    email: textIn(event, 'email'),
    messageId: textIn(event, 'postrider_message_id'),
    // The answer to sending has the part before the first dot.
    providerId: textIn(event, 'sg_message_id').split('.', 1).join(),
    at: timeOf(event.timestamp, 1_000),
    category: textIn(event, 'bounce_classification') || textIn(event, 'type') || type,
    words: textIn(event, 'response') || reason,
    status: textIn(event, 'status'),
  });
}

function meaningOf(event: EventFields, type: string): Meaning {
  switch (type) {
    case 'delivered':
      return 'delivered';
    case 'bounce': {
      const word = textIn(event, 'bounce_classification').toLowerCase();
      // A block says nothing about the address.
      const isBlock = textIn(event, 'type') === 'blocked';
      const meaning = meaningIn(ofBounce, word, isBlock ? 'soft' : 'unknown');
      return isBlock && meaning === 'hard' ? 'soft' : meaning;
    }
    case 'dropped':
      return meaningIn(ofDrop, textIn(event, 'reason').toLowerCase(), 'soft');
    case 'spamreport':
      return 'complaint';
    case 'unsubscribe':
    case 'group_unsubscribe':
      return 'left';
    default:
      return 'nothing';
  }
}
