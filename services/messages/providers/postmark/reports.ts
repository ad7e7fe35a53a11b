import {
  type EventFields,
  type Meaning,
  meaningIn,
  reportOf,
  reportsOf,
  textIn,
} from '../../reports/event.ts';
import { objectsIn } from '../../reports/json-reports.ts';
import { rawOf } from '../../reports/report.ts';
import { timeIn } from '../../reports/time.ts';
import type { ReadReports } from '../provider.ts';

/*
 * Webhooks of Postmark, one event each (postmarkapp.com/developer/webhooks). They are not signed:
 * the key authenticates them.
 */

export const postmarkReports: ReadReports = ({ body }) => reportsOf(objectsIn(body), read);

/** `Type` of a bounce. */
const ofBounce: Readonly<Record<string, Meaning>> = {
  HardBounce: 'hard',
  BadEmailAddress: 'hard',
  // Suppressed there: by somebody's hand, or after a complaint.
  ManuallyDeactivated: 'soft',
  SoftBounce: 'soft',
  Transient: 'soft',
  DnsError: 'soft',
  VirusNotification: 'message',
  TemplateRenderingFailed: 'message',
  Blocked: 'sender',
  SpamNotification: 'sender',
  DMARCPolicy: 'sender',
  SpamComplaint: 'complaint',
  Unsubscribe: 'left',
  Subscribe: 'nothing',
  AddressChange: 'auto',
  AutoResponder: 'auto',
  ChallengeVerification: 'auto',
  OpenRelayTest: 'auto',
};

function read(event: EventFields) {
  const type = textIn(event, 'RecordType');
  const email = textIn(event, 'Email') || textIn(event, 'Recipient');
  const providerId = textIn(event, 'MessageID');
  const time = ['BouncedAt', 'DeliveredAt', 'ChangedAt', 'ReceivedAt']
    .map((name) => textIn(event, name))
    .find((text) => text !== '');
  const bounceId = textIn(event, 'ID');
  return reportOf(rawOf(event), {
    key: bounceId === '' ? [providerId, type, email, time ?? ''] : [type, bounceId],
    meaning: meaningOf(event, type),
    ...{ email, providerId, at: timeIn(time ?? '') },
    messageId: textIn(event, 'Metadata', 'postrider_message_id'),
    category: textIn(event, 'Type'),
    words: textIn(event, 'Details') || textIn(event, 'Description'),
  });
}

function meaningOf(event: EventFields, type: string): Meaning {
  switch (type) {
    case 'Delivery':
      return 'delivered';
    case 'Bounce':
      return meaningIn(ofBounce, textIn(event, 'Type'), 'unknown');
    case 'SpamComplaint':
      return 'complaint';
    case 'SubscriptionChange': {
      // Bounces and complaints are reported by events of their own.
      const hasLeft = event.SuppressSending === true && isByRecipient(event);
      return hasLeft ? 'left' : 'nothing';
    }
    default:
      return 'nothing';
  }
}

const isByRecipient = (event: EventFields) =>
  textIn(event, 'SuppressionReason') === 'ManualSuppression' &&
  textIn(event, 'Origin') === 'Recipient';
