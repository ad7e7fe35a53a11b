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
 * The event API of Mailjet, one event or many in a request (dev.mailjet.com/email/guides/webhooks).
 * They are not signed: the key authenticates them.
 */

export const mailjetReports: ReadReports = ({ body }) =>
  reportsOf(objectsIn(body, eventsMax), read);

const ofEvent: Readonly<Record<string, Meaning>> = {
  sent: 'delivered',
  spam: 'complaint',
  unsub: 'left',
};

/** `error` of a bounce or a block. */
const ofError: Readonly<Record<string, Meaning>> = {
  'user unknown': 'hard',
  'invalid domain': 'hard',
  'mailbox inactive': 'soft',
  'quota exceeded': 'soft',
  'no mail host': 'soft',
  'connection issue': 'soft',
  greylisted: 'soft',
  // Of an address that is suppressed there.
  preblocked: 'soft',
  blacklisted: 'soft',
  'spam reporter': 'soft',
  typofix: 'soft',
  'content blocked': 'message',
  'duplicate in campaign': 'message',
  'template error': 'message',
  'relay/access denied': 'sender',
  'sender blocked': 'sender',
  'policy issue': 'sender',
};

function read(event: EventFields) {
  const [type, email, providerId] = ['event', 'email', 'MessageID'].map((name) =>
    textIn(event, name),
  ) as [string, string, string];
  const isReturned = type === 'bounce' || type === 'blocked';
  return reportOf(rawOf(event), {
    key: [providerId, type, textIn(event, 'time'), email],
    meaning: isReturned ? meaningOf(event) : meaningIn(ofEvent, type, 'nothing'),
    ...{ email, providerId, at: timeOf(event.time, 1_000) },
    messageId: textIn(event, 'CustomID'),
    category: textIn(event, 'error'),
    words: textIn(event, 'comment') || textIn(event, 'smtp_reply'),
  });
}

/** A bounce is hard where both its flag and its error say so. */
function meaningOf(event: EventFields): Meaning {
  const error = textIn(event, 'error').toLowerCase();
  const isHard = [true, 1, '1', 'true'].some((each) => event.hard_bounce === each);
  // Greylisting is tried again.
  if (error === 'greylisted' && !isHard) return 'nothing';
  const meaning = meaningIn(ofError, error, isHard ? 'unknown' : 'soft');
  return meaning === 'hard' && !isHard ? 'soft' : meaning;
}
