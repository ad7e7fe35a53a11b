import { expect, test } from '@jest/globals';
import { meaningOf, messageId, readReports } from '../../test/read-reports.ts';
import { sparkpostReports } from './reports.ts';

const read = (body: unknown) => readReports(sparkpostReports, body);

// As in developers.sparkpost.com/api/webhooks.
const bounce = {
  ...{ type: 'bounce', bounce_class: '10', event_id: '92356927693813856', error_code: '550' },
  ...{ raw_reason: '550 5.1.1 <ann@example.com> no such user', reason: '550 5.1.1 ...' },
  ...{ rcpt_to: 'ann@example.com', raw_rcpt_to: 'Ann@Example.com', timestamp: '1454442600' },
  ...{ rcpt_meta: { postrider_message_id: messageId }, transmission_id: '65832150921904138' },
  ...{ message_id: '000443ee14578172be22', num_retries: '2', subaccount_id: '101' },
};
const inEvent = (event: object) => [{ msys: { message_event: { ...bounce, ...event } } }];

test('a bounce names the message, the recipient, the time and the words', async () => {
  expect(await read(inEvent({}))).toMatchObject([
    {
      ...{ type: 'bounce', class: 'hard', category: '10', email: 'ann@example.com', messageId },
      ...{ providerId: '65832150921904138', at: new Date('2016-02-02T19:50:00Z') },
      diagnostic: '550 5.1.1 <[address]> no such user',
    },
  ]);
});

test.each([
  ['1', 'bounce unknown'],
  ['10', 'bounce hard'],
  ['20', 'bounce soft'],
  ['21', 'bounce soft'],
  ['22', 'bounce soft'],
  ['23', 'bounce message'],
  ['24', 'bounce soft'],
  ['25', 'bounce sender'],
  ['30', 'bounce hard'],
  ['40', 'bounce soft'],
  ['50', 'bounce sender'],
  ['51', 'bounce sender'],
  ['52', 'bounce message'],
  ['53', 'bounce message'],
  ['54', 'bounce sender'],
  ['60', 'nothing auto'],
  ['70', 'bounce soft'],
  ['80', 'nothing auto'],
  ['90', 'complaint left'],
  ['100', 'nothing auto'],
])('a bounce of class %s is %s', async (bounce_class, meaning) => {
  for (const type of ['bounce', 'out_of_band']) {
    const event = inEvent({ type, bounce_class, raw_reason: '', reason: '' });
    expect(await meaningOf(read, event)).toBe(meaning);
  }
});

test.each([
  ['delivery', 'delivered'],
  ['injection', 'nothing'],
  ['delay', 'nothing'],
  ['spam_complaint', 'complaint complaint'],
  ['policy_rejection', 'bounce soft'],
  ['generation_failure', 'bounce message'],
  ['generation_rejection', 'bounce message'],
  ['open', 'nothing'],
  ['click', 'nothing'],
  ['list_unsubscribe', 'complaint left'],
  ['link_unsubscribe', 'complaint left'],
  ['something_new', 'nothing'],
])('an event %s is %s', async (type, meaning) => {
  const event = inEvent({ type, raw_reason: '', reason: '' });
  expect(await meaningOf(read, event)).toBe(meaning);
});

test('events stand under different names, and the test of a webhook holds none', async () => {
  expect(await read([{ msys: {} }])).toEqual([]);
  expect(await read([])).toEqual([]);
  const complaint = { ...bounce, type: 'spam_complaint', fbtype: 'abuse' };
  expect(await read([{ msys: { message_event: complaint } }, 'x'])).toMatchObject([
    { type: 'complaint', class: 'complaint', complaintType: 'abuse' },
    { isUnreadable: true },
  ]);
  const left = [{ msys: { unsubscribe_event: { ...bounce, type: 'link_unsubscribe' } } }];
  expect(await meaningOf(read, left)).toBe('complaint left');
});
