import { isObject } from '#lib/json/text.ts';
import {
  type EventFields,
  listIn,
  type Meaning,
  meaningIn,
  type ProviderEvent,
  reportOf,
  textIn,
} from '../../reports/event.ts';
import { objectsIn } from '../../reports/json-reports.ts';
import { rawOf, reportsMax, UnreadableBody } from '../../reports/report.ts';
import { timeIn } from '../../reports/time.ts';
import type { ReadReports } from '../provider.ts';
import { confirmSubscription, createSns } from './sns.ts';

/*
 * Amazon SES publishes events to a topic of Amazon SNS, which posts them, one each, for several
 * recipients at times (docs.aws.amazon.com/ses, "Contents of event data"). Both forms are read: of
 * event publishing, and of feedback notifications.
 */

const verify = createSns();

export const sesReports: ReadReports = async ({ body }, account) => {
  const message = await verify(body, account);
  if (message.Type === 'SubscriptionConfirmation') await confirmSubscription(message, account);
  if (message.Type !== 'Notification') return [];
  const event = eventIn(message.Message);
  if (!event) return [];
  const events = eventsOf(event);
  if (events.length > reportsMax) throw new UnreadableBody();
  const raw = rawOf(event);
  return events.map((each) =>
    reportOf(raw, {
      ...each,
      key: [message.MessageId, each.email],
      messageId: listIn(event, 'mail', 'tags', 'postrider_message_id').join(),
      providerId: textIn(event, 'mail', 'messageId'),
    }),
  );
};

/** Undefined for a text of SES itself, such as that the topic is valid. */
function eventIn(message: string): EventFields | undefined {
  try {
    const [event] = objectsIn(Buffer.from(message));
    return isObject(event) ? event : undefined;
  } catch (error) {
    if (error instanceof UnreadableBody) return undefined;
    throw error;
  }
}

type RecipientEvent = Omit<ProviderEvent, 'key' | 'messageId' | 'providerId'>;

/** `bounceSubType` of a bounce, and else its `bounceType`. */
const ofBounce: Readonly<Record<string, Meaning>> = {
  Suppressed: 'soft',
  OnAccountSuppressionList: 'soft',
  UnsubscribedRecipient: 'left',
  CustomTimeoutExceeded: 'expired',
  MessageTooLarge: 'message',
  ContentRejected: 'message',
  AttachmentRejected: 'message',
  Permanent: 'hard',
  Transient: 'soft',
  Undetermined: 'soft',
};

function eventsOf(event: EventFields): RecipientEvent[] {
  const type = textIn(event, 'eventType') || textIn(event, 'notificationType');
  const time = (name: string) => timeIn(textIn(event, name, 'timestamp'));
  const destinations = listIn(event, 'mail', 'destination').map((each) => `${each}`);
  const ofAll = (rest: Omit<RecipientEvent, 'email'>) =>
    destinations.map((email) => ({ ...rest, email }));
  switch (type) {
    case 'Delivery': {
      const [at, words] = [time('delivery'), textIn(event, 'delivery', 'smtpResponse')];
      const recipients = listIn(event, 'delivery', 'recipients');
      return recipients.map((each) => ({ meaning: 'delivered', at, words, email: `${each}` }));
    }
    case 'Bounce':
      return bouncesOf(event, time('bounce'));
    case 'Complaint': {
      const complaintType = textIn(event, 'complaint', 'complaintFeedbackType');
      const isSuppressed = textIn(event, 'complaint', 'complaintSubType') !== '';
      // Of a mail that was not sent, since its recipient had complained before.
      const meaning = isSuppressed ? 'soft' : 'complaint';
      return listIn(event, 'complaint', 'complainedRecipients').map((each) => ({
        ...{ meaning, complaintType, at: time('complaint') },
        email: textIn(each, 'emailAddress'),
      }));
    }
    case 'Reject': {
      const words = textIn(event, 'reject', 'reason');
      return ofAll({ meaning: 'sender', at: time('mail'), category: type, words });
    }
    case 'Rendering Failure': {
      const words = textIn(event, 'failure', 'errorMessage');
      return ofAll({ meaning: 'message', at: time('mail'), category: type, words });
    }
    case 'Subscription':
      return ofAll({ meaning: 'left', at: time('subscription'), category: type });
    default:
      return ofAll({ meaning: 'nothing', at: time('mail'), category: type }).slice(0, 1);
  }
}

function bouncesOf(event: EventFields, at: Date | undefined): RecipientEvent[] {
  const [type, subtype] = ['bounceType', 'bounceSubType'].map((name) =>
    textIn(event, 'bounce', name),
  ) as [string, string];
  const meaning = meaningIn(ofBounce, subtype, undefined) ?? meaningIn(ofBounce, type, 'unknown');
  return listIn(event, 'bounce', 'bouncedRecipients').map((each) => ({
    ...{ meaning, at, category: `${type}/${subtype}` },
    email: textIn(each, 'emailAddress'),
    words: textIn(each, 'diagnosticCode'),
    status: textIn(each, 'status'),
  }));
}
