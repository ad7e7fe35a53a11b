import { create } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { Webhook } from 'svix';
import { EmailProviderSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { WrongSignature } from '../../reports/report.ts';
import { meaningOf, messageId, readReports } from '../../test/read-reports.ts';
import { resendReports } from './reports.ts';

const webhookSecret = `whsec_${Buffer.from('a secret of Resend').toString('base64')}`;
const provider = create(EmailProviderSchema, { kind: 'resend', resend: { webhookSecret } });
const now = new Date('2026-11-22T23:41:30Z');
const id = 'msg_2W2D3qXLS5fOaPja1GDg7rF2CwB';

const headersOf = (body: string, over: object = {}) => ({
  ...{ 'svix-id': id, 'svix-timestamp': `${now.getTime() / 1_000}` },
  'svix-signature': `v1,${'A'.repeat(43)}= ${new Webhook(webhookSecret).sign(id, now, body)}`,
  ...over,
});
const read = (event: unknown) => {
  const body = JSON.stringify(event);
  return readReports(resendReports, body, { provider, now, headers: headersOf(body) });
};

// As in resend.com/docs/webhooks.
const bounced = {
  type: 'email.bounced',
  created_at: '2026-11-22T23:41:12.126Z',
  data: {
    ...{ created_at: '2026-11-22T23:41:11.894719+00:00', to: ['Ann <Ann@Example.com>'] },
    ...{ email_id: '56761188-7520-42d8-8898-ff6fc54ce618', from: 'Acme <onboarding@resend.dev>' },
    bounce: {
      ...{ type: 'Permanent', subType: 'General', message: 'No such user.' },
      diagnosticCode: ['smtp; 550 5.1.1 <ann@example.com> user unknown'],
    },
    tags: { postrider_message_id: messageId },
  },
};
const event = (type: string, data: object = {}) => ({
  ...bounced,
  type: `email.${type}`,
  data: { ...bounced.data, bounce: undefined, ...data },
});

test('a bounce names the message, the recipient, the time and the words', async () => {
  expect(await read(bounced)).toMatchObject([
    {
      ...{ type: 'bounce', class: 'hard', category: 'Permanent/General', email: 'ann@example.com' },
      ...{ messageId, providerId: '56761188-7520-42d8-8898-ff6fc54ce618' },
      at: new Date('2026-11-22T23:41:12.126Z'),
      diagnostic: 'smtp; 550 5.1.1 <[address]> user unknown',
    },
  ]);
  const tags = [{ name: 'postrider_message_id', value: messageId }];
  expect(await read(event('delivered', { tags }))).toMatchObject([{ messageId }]);
});

const longAgo = 'sent a hard bounce message, which can have an impact on your reputation';

test.each<[event: object, meaning: string]>([
  [event('sent'), 'nothing'],
  [event('delivered'), 'delivered'],
  [event('delivery_delayed'), 'nothing'],
  [event('complained'), 'complaint complaint'],
  [event('opened'), 'nothing'],
  [event('clicked'), 'nothing'],
  [event('failed', { failed: { reason: 'reached_daily_quota' } }), 'bounce sender'],
  [event('suppressed'), 'bounce soft'],
  [event('bounced', { bounce: { type: 'Permanent', subType: 'General' } }), 'bounce hard'],
  [event('bounced', { bounce: { type: 'Permanent', subType: 'Suppressed' } }), 'bounce soft'],
  [event('bounced', { bounce: { type: 'Transient', subType: 'MailboxFull' } }), 'bounce soft'],
  [
    event('bounced', { bounce: { type: 'Transient', subType: 'MessageTooLarge' } }),
    'bounce message',
  ],
  [event('bounced', { bounce: { message: 'Resend has suppressed sending to it' } }), 'bounce soft'],
  [event('bounced', { bounce: { message: longAgo } }), 'bounce hard'],
  [event('delivered', { to: [] }), 'unreadable'],
  [event('bounced', { cc: ['copy@example.com'], bounce: { type: 'Permanent' } }), 'nothing'],
  [event('bounced', { bcc: ['copy@example.com'], bounce: { type: 'Permanent' } }), 'nothing'],
  [event('delivered', { to: ['ann@example.com', 'bob@example.com'] }), 'nothing'],
  [event('delivered', { headers: [{ name: 'Cc', value: 'copy@example.com' }] }), 'nothing'],
])('%j is %s', async (given, meaning) => {
  expect(await meaningOf(read, given)).toBe(meaning);
});

test.each<[string, object]>([
  ['another id', { 'svix-id': 'msg_other' }],
  ['another time', { 'svix-timestamp': '1700000000' }],
  ['no signature', { 'svix-signature': '' }],
  ['another version', { 'svix-signature': 'v2,AAAA' }],
])('a request with %s is refused', async (_, over) => {
  const body = JSON.stringify(bounced);
  const call = readReports(resendReports, body, { provider, now, headers: headersOf(body, over) });
  await expect(call).rejects.toThrow(WrongSignature);
});

test('a request is refused that was signed a day ago or ahead, or where no secret is known', async () => {
  const body = JSON.stringify(bounced);
  const headers = headersOf(body);
  const day = 24 * 60 * 60 * 1_000 + 1;
  for (const at of [now.getTime() + day, now.getTime() - day]) {
    const call = readReports(resendReports, body, { provider, headers, now: new Date(at) });
    await expect(call).rejects.toThrow(WrongSignature);
  }
  await expect(readReports(resendReports, body, { headers, now })).rejects.toThrow(WrongSignature);
  const learned = { signing_secret: webhookSecret };
  expect(await readReports(resendReports, body, { headers, now, learned })).toHaveLength(1);
});
