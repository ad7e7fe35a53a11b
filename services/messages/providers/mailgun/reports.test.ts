import { createHmac } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { EmailProviderSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { WrongSignature } from '../../reports/report.ts';
import { meaningOf, messageId, readReports } from '../../test/read-reports.ts';
import { mailgunReports } from './reports.ts';

const webhookSigningKey = 'key-0123456789abcdef0123456789abcdef';
const provider = create(EmailProviderSchema, {
  ...{ kind: 'mailgun', mailgun: { domain: 'example.com', webhookSigningKey } },
});
const timestamp = '1529006854';
const now = new Date((Number(timestamp) + 60) * 1_000);

function signed(event: object, over: object = {}) {
  const token = 'a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0';
  const signature = createHmac('sha256', webhookSigningKey)
    .update(timestamp + token)
    .digest('hex');
  return { signature: { timestamp, token, signature, ...over }, 'event-data': event };
}

const read = (event: unknown) =>
  readReports(mailgunReports, signed(event as object), { provider, now });

// As in documentation.mailgun.com, "Event structure".
const failed = {
  ...{ id: 'G9Bn5sl1TC6nu79C8C0bwg', timestamp: 1521233195.375624, event: 'failed' },
  ...{
    severity: 'permanent',
    reason: 'bounce',
    'log-level': 'error',
    recipient: 'ann@example.com',
  },
  'delivery-status': {
    ...{ 'attempt-no': 1, message: '5.1.1 <ann@example.com> no such user', code: 550 },
    ...{ description: '', 'enhanced-code': '5.1.1', 'session-seconds': 0 },
  },
  message: { headers: { 'message-id': '20130503192659.13651.20287@mg.example.com' } },
  'user-variables': { postrider_message_id: messageId },
};
const about = { recipient: 'ann@example.com', timestamp: 1521233195 };

test('a failure names the message, the recipient, the time and the words', async () => {
  expect(await read(failed)).toMatchObject([
    {
      ...{ type: 'bounce', class: 'hard', category: 'bounce', email: 'ann@example.com', messageId },
      providerId: '20130503192659.13651.20287@mg.example.com',
      at: new Date('2018-03-16T20:46:35.376Z'),
      diagnostic: '550 5.1.1 <[address]> no such user',
    },
  ]);
});

test.each<[event: object, meaning: string]>([
  [{ event: 'delivered' }, 'delivered'],
  [{ event: 'accepted' }, 'nothing'],
  [{ event: 'opened' }, 'nothing'],
  [{ event: 'clicked' }, 'nothing'],
  [{ event: 'complained' }, 'complaint complaint'],
  [{ event: 'unsubscribed' }, 'complaint left'],
  [{ event: 'rejected', reject: { reason: 'Sandbox' } }, 'bounce sender'],
  [{ event: 'failed', severity: 'temporary', reason: 'generic' }, 'nothing'],
  [{ event: 'failed', severity: 'permanent', reason: 'suppress-bounce' }, 'bounce soft'],
  [{ event: 'failed', severity: 'permanent', reason: 'suppress-unsubscribe' }, 'bounce soft'],
  [{ event: 'failed', severity: 'permanent', reason: 'old' }, 'bounce expired'],
  [{ event: 'failed', severity: 'permanent', reason: 'generic' }, 'bounce unknown'],
  [
    {
      ...{ event: 'failed', severity: 'permanent', reason: 'generic' },
      'delivery-status': { code: 550, 'enhanced-code': '5.7.1', message: 'no' },
    },
    'bounce sender',
  ],
  [
    {
      ...{ event: 'failed', severity: 'permanent', reason: 'bounce' },
      'delivery-status': { code: 552, message: '5.3.4 too big' },
    },
    'bounce message',
  ],
  [{ event: 'delivered', recipient: 'nobody' }, 'unreadable'],
])('%j is %s', async (event, meaning) => {
  expect(await meaningOf(read, { ...about, ...event })).toBe(meaning);
});

test('events of one token have the same key', async () => {
  const [one] = await read(failed);
  const [two] = await read({ ...failed, event: 'delivered' });
  expect(two?.key).toBe(one?.key);
});

test.each<[string, object]>([
  ['another time', { timestamp: '1529006855' }],
  ['another token', { token: 'b8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0' }],
  ['another signature', { signature: 'ab'.repeat(32) }],
  ['a signature that is none', { signature: 'x' }],
  ['no signature', { signature: undefined }],
])('a request with %s is refused', async (_, over) => {
  const call = readReports(mailgunReports, signed(failed, over), { provider, now });
  await expect(call).rejects.toThrow(WrongSignature);
});

test('a request is refused that was signed more than a day ago, and without a key', async () => {
  const later = new Date(now.getTime() + 24 * 60 * 60 * 1_000);
  const old = readReports(mailgunReports, signed(failed), { provider, now: later });
  await expect(old).rejects.toThrow(WrongSignature);
  const keyless = create(EmailProviderSchema, { kind: 'mailgun', mailgun: {} });
  const unsigned = readReports(mailgunReports, signed(failed), { provider: keyless, now });
  await expect(unsigned).rejects.toThrow(WrongSignature);
});
