import { isObject } from '#lib/json/text.ts';
import {
  type EventFields,
  type Meaning,
  meaningIn,
  reportOf,
  reportsOf,
  textIn,
} from '../../reports/event.ts';
import { eventsMax, objectsIn } from '../../reports/json-reports.ts';
import { rawOf } from '../../reports/report.ts';
import { timeOf } from '../../reports/time.ts';
import type { ReadReports } from '../provider.ts';

/*
 * Webhooks of SparkPost (Bird), hundreds of events in a request
 * (developers.sparkpost.com/api/webhooks). They are not signed: the key authenticates them. A
 * webhook is tested with `[{"msys":{}}]`.
 */

export const sparkpostReports: ReadReports = ({ body }) =>
  reportsOf(objectsIn(body, eventsMax), (wrapped) => {
    const [event] = Object.values(isObject(wrapped.msys) ? wrapped.msys : {});
    return isObject(event) ? read(event) : undefined;
  });

/** `bounce_class`: developers.sparkpost.com, "Bounce Classification Codes". */
const ofBounce: Readonly<Record<string, Meaning>> = {
  '10': 'hard',
  '20': 'soft',
  '21': 'soft',
  '22': 'soft',
  '23': 'message',
  '24': 'soft',
  '25': 'sender',
  '30': 'hard',
  '40': 'soft',
  '50': 'sender',
  '51': 'sender',
  '52': 'message',
  '53': 'message',
  '54': 'sender',
  '60': 'auto',
  '70': 'soft',
  '80': 'auto',
  '90': 'left',
  '100': 'auto',
};

const ofEvent: Readonly<Record<string, Meaning>> = {
  delivery: 'delivered',
  spam_complaint: 'complaint',
  // Of an address that is suppressed there.
  policy_rejection: 'soft',
  generation_failure: 'message',
  generation_rejection: 'message',
  list_unsubscribe: 'left',
  link_unsubscribe: 'left',
};

function read(event: EventFields) {
  const type = textIn(event, 'type');
  const bounceClass = textIn(event, 'bounce_class');
  const isBounce = type === 'bounce' || type === 'out_of_band';
  const id = textIn(event, 'event_id');
  const [email, at] = [textIn(event, 'rcpt_to'), textIn(event, 'timestamp')];
  const providerId = textIn(event, 'transmission_id');
  return reportOf(rawOf(event), {
    key: id === '' ? [type, providerId, email, at] : [id],
    meaning: isBounce
      ? meaningIn(ofBounce, bounceClass, 'unknown')
      : meaningIn(ofEvent, type, 'nothing'),
    ...{ email, providerId, at: timeOf(event.timestamp, 1_000) },
    messageId: textIn(event, 'rcpt_meta', 'postrider_message_id'),
    category: isBounce ? bounceClass : type,
    words: textIn(event, 'raw_reason') || textIn(event, 'reason'),
    complaintType: textIn(event, 'fbtype'),
  });
}
