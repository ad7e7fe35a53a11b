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
 * Webhooks of Brevo for transactional mail, one event or up to 500 in a request
 * (developers.brevo.com/docs/transactional-webhooks). They are not signed: the key authenticates
 * them.
 */

export const brevoReports: ReadReports = ({ body }) => reportsOf(objectsIn(body, eventsMax), read);

const ofEvent: Readonly<Record<string, Meaning>> = {
  delivered: 'delivered',
  hard_bounce: 'hard',
  invalid_email: 'hard',
  soft_bounce: 'soft',
  // Of an address that is suppressed there.
  blocked: 'soft',
  error: 'message',
  spam: 'complaint',
  complaint: 'complaint',
  unsubscribe: 'left',
  unsubscribed: 'left',
};

function read(event: EventFields) {
  const [type, email, providerId] = ['event', 'email', 'message-id'].map((name) =>
    textIn(event, name),
  ) as [string, string, string];
  return reportOf(rawOf(event), {
    key: [providerId, type, textIn(event, 'ts_epoch'), email],
    meaning: meaningIn(ofEvent, type, 'nothing'),
    ...{ email, providerId },
    messageId: textIn(event, 'X-Mailin-custom'),
    // Other times are in the time zone of the account.
    at: timeOf(event.ts_epoch, 1),
    category: type,
    words: textIn(event, 'reason'),
  });
}
