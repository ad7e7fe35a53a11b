import { expect, test } from '@jest/globals';
import { meaningOf, messageId, readReports } from '../../test/read-reports.ts';
import { postmarkReports } from './reports.ts';

const read = (body: unknown) => readReports(postmarkReports, body);
const Metadata = { postrider_message_id: messageId };

// As in postmarkapp.com/developer/webhooks.
const bounce = {
  ...{ RecordType: 'Bounce', ID: 432337203685477, Type: 'HardBounce', TypeCode: 1 },
  ...{ Name: 'Hard bounce', Tag: 'Test', MessageID: '883953f4-6105-42a2-a16a-77a8eac79483' },
  ...{ Metadata, ServerID: 23, MessageStream: 'outbound', Email: 'Ann@Example.com' },
  ...{ Description: 'The server was unable to deliver your message (ex: unknown user).' },
  ...{ Details: 'smtp;550 5.1.1 <ann@example.com>: user unknown', From: 'a@sender.example' },
  ...{ BouncedAt: '2019-11-05T16:33:54.9070259Z', DumpAvailable: true, Inactive: true },
};
const delivery = {
  ...{ RecordType: 'Delivery', MessageID: '883953f4-6105-42a2-a16a-77a8eac79483', Metadata },
  ...{ Recipient: 'ann@example.com', DeliveredAt: '2019-11-05T16:33:54.9070259Z' },
  ...{ Details: 'Test delivery webhook details', Tag: 'welcome', ServerID: 23 },
};

test('a bounce and a delivery name the message, the recipient, the time and the words', async () => {
  const at = new Date('2019-11-05T16:33:54.907Z');
  const providerId = '883953f4-6105-42a2-a16a-77a8eac79483';
  const common = { messageId, providerId, email: 'ann@example.com', at };
  expect(await read(bounce)).toMatchObject([
    {
      ...{ ...common, type: 'bounce', class: 'hard', category: 'HardBounce' },
      diagnostic: 'smtp;550 5.1.1 <[address]>: user unknown',
    },
  ]);
  expect(await read(delivery)).toMatchObject([{ ...common, type: 'delivered' }]);
});

test.each([
  ['HardBounce', 'bounce hard'],
  ['BadEmailAddress', 'bounce hard'],
  ['ManuallyDeactivated', 'bounce soft'],
  ['SoftBounce', 'bounce soft'],
  ['Transient', 'bounce soft'],
  ['DnsError', 'bounce soft'],
  ['VirusNotification', 'bounce message'],
  ['TemplateRenderingFailed', 'bounce message'],
  ['Blocked', 'bounce sender'],
  ['SpamNotification', 'bounce sender'],
  ['DMARCPolicy', 'bounce sender'],
  ['SpamComplaint', 'complaint complaint'],
  ['Unsubscribe', 'complaint left'],
  ['AutoResponder', 'nothing auto'],
  ['ChallengeVerification', 'nothing auto'],
  ['OpenRelayTest', 'nothing auto'],
  ['Unknown', 'bounce unknown'],
])('a bounce of type %s is %s', async (Type, meaning) => {
  expect(await meaningOf(read, { ...bounce, Type, Details: '', Description: '' })).toBe(meaning);
});

test.each([
  [{ RecordType: 'SpamComplaint', Email: 'ann@example.com' }, 'complaint complaint'],
  [{ RecordType: 'Open', Recipient: 'ann@example.com' }, 'nothing'],
  [{ RecordType: 'Click', Recipient: 'ann@example.com' }, 'nothing'],
  [{ RecordType: 'Inbound' }, 'nothing'],
  [
    {
      ...{ RecordType: 'SubscriptionChange', Recipient: 'ann@example.com', Origin: 'Recipient' },
      ...{ SuppressSending: true, SuppressionReason: 'ManualSuppression' },
    },
    'complaint left',
  ],
  [
    {
      ...{ RecordType: 'SubscriptionChange', Recipient: 'ann@example.com', Origin: 'Recipient' },
      ...{ SuppressSending: true, SuppressionReason: 'HardBounce' },
    },
    'nothing',
  ],
  [{ RecordType: 'Delivery' }, 'unreadable'],
])('%j is %s', async (event, meaning) => {
  expect(await meaningOf(read, event)).toBe(meaning);
});

test('a code in the words wins over the type', async () => {
  const details = { ...bounce, Details: 'smtp;550 5.7.1 rejected by policy' };
  expect(await meaningOf(read, details)).toBe('bounce sender');
});

test('a repeat has the same key, and another bounce or event another one', async () => {
  const keys = async (event: object) => (await read(event))[0]?.key;
  expect(await keys({ ...bounce, Inactive: false })).toBe(await keys(bounce));
  expect(await keys({ ...delivery, Tag: '' })).toBe(await keys(delivery));
  const all = [bounce, { ...bounce, ID: 7 }, delivery, { ...delivery, Recipient: 'b@example.com' }];
  expect(new Set(await Promise.all(all.map(keys))).size).toBe(4);
});
