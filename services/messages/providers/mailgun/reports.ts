import { createHmac, timingSafeEqual } from 'node:crypto';
import { isObject } from '#lib/json/text.ts';
import {
  type EventFields,
  listIn,
  type Meaning,
  meaningIn,
  reportOf,
  textIn,
} from '../../reports/event.ts';
import { objectsIn } from '../../reports/json-reports.ts';
import { rawOf, requireRecent, UnreadableBody, WrongSignature } from '../../reports/report.ts';
import { timeOf } from '../../reports/time.ts';
import type { ReadReports } from '../provider.ts';

/*
 * Webhooks of Mailgun, one event each (documentation.mailgun.com, "Securing Webhooks"). The
 * signature is of a time and a random token, not of the event, so that the key in the URL has to
 * be right as well.
 */

export const mailgunReports: ReadReports = ({ body, now }, { provider }) => {
  const [request] = objectsIn(body);
  if (!isObject(request)) throw new UnreadableBody();
  verify(request, { key: provider.mailgun?.webhookSigningKey ?? '', now });
  const event = request['event-data'];
  return isObject(event) ? [read(event, textIn(request, 'signature', 'token'))] : [];
};

function verify(request: EventFields, { key, now }: { key: string; now: Date }): void {
  const [timestamp = '', token = '', signature = ''] = ['timestamp', 'token', 'signature'].map(
    (name) => textIn(request, 'signature', name),
  );
  const right = createHmac('sha256', key).update(`${timestamp}${token}`).digest();
  const given = Buffer.from(/^[0-9a-f]{64}$/.test(signature) ? signature : '', 'hex');
  if (key === '' || given.length !== right.length || !timingSafeEqual(given, right)) {
    throw new WrongSignature();
  }
  requireRecent(timestamp, now);
}

/** `reason` of a failure. */
const ofFailure: Readonly<Record<string, Meaning>> = {
  'suppress-bounce': 'soft',
  'suppress-complaint': 'soft',
  'suppress-unsubscribe': 'soft',
  espblock: 'sender',
  old: 'expired',
};

function read(event: EventFields, token: string) {
  const [recipient] = listIn(event, 'message', 'recipients');
  const status = (name: string) => textIn(event, 'delivery-status', name);
  const said = status('message') || status('description') || textIn(event, 'reject', 'reason');
  const code = status('code');
  const isNamed = code === '' || said.startsWith(code);
  return reportOf(rawOf(event), {
    key: [token],
    meaning: meaningOf(event),
    email: textIn(event, 'recipient') || (typeof recipient === 'string' ? recipient : ''),
    messageId: textIn(event, 'user-variables', 'postrider_message_id'),
    providerId: textIn(event, 'message', 'headers', 'message-id'),
    at: timeOf(event.timestamp, 1_000),
    category: textIn(event, 'reason'),
    words: isNamed ? said : `${code} ${said}`,
    status: status('enhanced-code'),
  });
}

function meaningOf(event: EventFields): Meaning {
  switch (textIn(event, 'event')) {
    case 'delivered':
      return 'delivered';
    case 'failed':
      // A temporary failure is tried again.
      if (textIn(event, 'severity') !== 'permanent') return 'nothing';
      return meaningIn(ofFailure, textIn(event, 'reason'), 'unknown');
    case 'rejected':
      return 'sender';
    case 'complained':
      return 'complaint';
    case 'unsubscribed':
      return 'left';
    default:
      return 'nothing';
  }
}
