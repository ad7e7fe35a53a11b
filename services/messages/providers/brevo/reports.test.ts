import { expect, test } from '@jest/globals';
import { meaningOf, messageId, readReports } from '../../test/read-reports.ts';
import { brevoReports } from './reports.ts';

const read = (body: unknown) => readReports(brevoReports, body);

// As in developers.brevo.com/docs/transactional-webhooks.
const event = {
  ...{ event: 'hard_bounce', email: 'ann@example.com', id: 26224, date: '2018-03-06 19:10:23' },
  ...{ ts: 1520331023, ts_event: 1520331023, ts_epoch: 1520363423000, subject: 'Hello' },
  ...{ 'message-id': '<201803062010.27287306012@smtp-relay.mailin.fr>', tag: 'transactional' },
  ...{ 'X-Mailin-custom': `postrider_message_id:${messageId}`, sending_ip: '192.0.2.1' },
  reason: '550 5.1.1 <ann@example.com>: user unknown',
};

test('a bounce names the message, the recipient, the time and the words', async () => {
  expect(await read(event)).toMatchObject([
    {
      ...{ type: 'bounce', class: 'hard', category: 'hard_bounce', email: 'ann@example.com' },
      ...{ messageId, providerId: '201803062010.27287306012@smtp-relay.mailin.fr' },
      ...{ at: new Date(1520363423000), diagnostic: '550 5.1.1 <[address]>: user unknown' },
    },
  ]);
});

test.each([
  ['request', 'nothing'],
  ['delivered', 'delivered'],
  ['hard_bounce', 'bounce hard'],
  ['invalid_email', 'bounce hard'],
  ['soft_bounce', 'bounce soft'],
  ['blocked', 'bounce soft'],
  ['error', 'bounce message'],
  ['deferred', 'nothing'],
  ['spam', 'complaint complaint'],
  ['complaint', 'complaint complaint'],
  ['unsubscribe', 'complaint left'],
  ['unique_opened', 'nothing'],
  ['opened', 'nothing'],
  ['proxy_open', 'nothing'],
  ['click', 'nothing'],
  ['list_addition', 'nothing'],
])('an event %s is %s', async (name, meaning) => {
  expect(await meaningOf(read, { ...event, event: name, reason: '' })).toBe(meaning);
});

test('a code in the reason wins, and a batch holds many events', async () => {
  const soft = { ...event, event: 'soft_bounce', reason: '550 5.1.1 user unknown' };
  const hard = { ...event, reason: '554 5.7.1 policy' };
  expect(await meaningOf(read, [soft, hard, {}, 'x'])).toBe(
    'bounce hard, bounce sender, nothing, unreadable',
  );
});
