import { generateKeyPairSync, sign } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { EmailProviderSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { UnreadableBody, WrongSignature } from '../../reports/report.ts';
import { meaningOf, messageId, readReports } from '../../test/read-reports.ts';
import { sendgridReports } from './reports.ts';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const webhookPublicKey = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
const provider = create(EmailProviderSchema, { kind: 'sendgrid', sendgrid: { webhookPublicKey } });
const timestamp = '1600112502';
const now = new Date((Number(timestamp) + 5) * 1_000);

const headersOf = (body: string, over: object = {}) => ({
  'x-twilio-email-event-webhook-timestamp': timestamp,
  'x-twilio-email-event-webhook-signature': sign(
    'sha256',
    Buffer.from(timestamp + body),
    privateKey,
  ).toString('base64'),
  ...over,
});
const read = (events: unknown) => {
  const body = JSON.stringify(events);
  return readReports(sendgridReports, body, { provider, now, headers: headersOf(body) });
};

// As in twilio.com/docs/sendgrid, "Event Webhook Reference".
const common = {
  ...{ email: 'ann@example.com', timestamp: 1513299569, 'smtp-id': '<14c5d75ce93.dfd@ismtpd-555>' },
  ...{ sg_message_id: '14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0' },
  ...{ category: ['cat facts'], postrider_message_id: messageId },
};
const bounce = {
  ...{ ...common, event: 'bounce', sg_event_id: 'Ym91bmNl', type: 'bounce', status: '5.0.0' },
  ...{ reason: '500 unknown recipient', bounce_classification: 'Invalid Address' },
};

test('a bounce names the message, the recipient, the time and the words', async () => {
  expect(await read([bounce])).toMatchObject([
    {
      ...{ type: 'bounce', class: 'hard', category: 'Invalid Address', email: common.email },
      ...{ messageId, providerId: '14c5d75ce93', diagnostic: '500 unknown recipient' },
      at: new Date('2017-12-15T00:59:29Z'),
    },
  ]);
});

test.each<[event: object, meaning: string]>([
  [{ event: 'processed' }, 'nothing'],
  [{ event: 'deferred', response: '400 try again later' }, 'nothing'],
  [{ event: 'delivered', response: '250 OK' }, 'delivered'],
  [{ event: 'open' }, 'nothing'],
  [{ event: 'click' }, 'nothing'],
  [{ event: 'spamreport' }, 'complaint complaint'],
  [{ event: 'unsubscribe' }, 'complaint left'],
  [{ event: 'group_unsubscribe' }, 'complaint left'],
  [{ event: 'group_resubscribe' }, 'nothing'],
  [{ event: 'dropped', reason: 'Bounced Address' }, 'bounce soft'],
  [{ event: 'dropped', reason: 'Unsubscribed Address' }, 'bounce soft'],
  [{ event: 'dropped', reason: 'Spam Content' }, 'bounce sender'],
  [{ event: 'bounce', type: 'blocked' }, 'bounce soft'],
  [{ event: 'bounce', type: 'blocked', bounce_classification: 'Reputation' }, 'bounce sender'],
  [{ event: 'bounce', type: 'blocked', bounce_classification: 'Invalid Address' }, 'bounce soft'],
  [
    { event: 'bounce', type: 'bounce', bounce_classification: 'Mailbox Unavailable' },
    'bounce soft',
  ],
  [{ event: 'bounce', type: 'bounce', bounce_classification: 'Content' }, 'bounce message'],
  [{ event: 'bounce', type: 'bounce', bounce_classification: 'Technical' }, 'bounce sender'],
  [{ event: 'bounce', type: 'bounce', reason: '550 5.1.1 no such user' }, 'bounce hard'],
  [{ event: 'bounce', type: 'bounce', status: '5.1.1' }, 'bounce hard'],
  [{ event: 'bounce', type: 'bounce' }, 'bounce unknown'],
  [{ event: 'something new' }, 'nothing'],
])('%j is %s', async (event, meaning) => {
  const read1 = (each: unknown) => read([each]);
  expect(await meaningOf(read1, { ...common, sg_event_id: 'x', ...event })).toBe(meaning);
});

test('one odd event in a batch is unreadable alone', async () => {
  const batch = [bounce, 7, { event: 'delivered' }, null, { ...bounce, sg_event_id: 'two' }];
  expect(await meaningOf(read, batch)).toBe(
    'bounce hard, unreadable, unreadable, unreadable, bounce hard',
  );
  expect(new Set((await read(batch)).map(({ key }) => key)).size).toBe(5);
  expect(await read([])).toEqual([]);
});

test('a batch has at most 5,000 events', async () => {
  expect(await read(Array.from({ length: 5_000 }, () => ({})))).toHaveLength(5_000);
  await expect(read(Array.from({ length: 5_001 }, () => ({})))).rejects.toThrow(UnreadableBody);
});

// The test vector of SendGrid's package @sendgrid/eventwebhook.
test('the signature that SendGrid publishes as an example is right', async () => {
  const key =
    'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==';
  const body = `${JSON.stringify([
    {
      email: 'hello@world.com',
      event: 'dropped',
      reason: 'Bounced Address',
      sg_event_id: 'ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA',
      sg_message_id: 'LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0',
      'smtp-id': '<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>',
      timestamp: 1600112492,
    },
  ])}\r\n`;
  const headers = {
    'x-twilio-email-event-webhook-timestamp': timestamp,
    'x-twilio-email-event-webhook-signature':
      'MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=',
  };
  const learned = { public_key: key };
  const call = readReports(sendgridReports, body, { learned, headers, now });
  expect(await call).toMatchObject([{ type: 'bounce', class: 'soft' }]);
});

test.each<[string, object]>([
  ['another time', { 'x-twilio-email-event-webhook-timestamp': '1600112503' }],
  ['no signature', { 'x-twilio-email-event-webhook-signature': '' }],
  ['a signature of nothing', { 'x-twilio-email-event-webhook-signature': 'AAAA' }],
])('a request with %s is refused', async (_, over) => {
  const body = JSON.stringify([bounce]);
  const headers = headersOf(body, over);
  const call = readReports(sendgridReports, body, { provider, now, headers });
  await expect(call).rejects.toThrow(WrongSignature);
});

test('a request is refused that was signed more than a day ago, or where no key is known', async () => {
  const body = JSON.stringify([bounce]);
  const headers = headersOf(body);
  const later = new Date(now.getTime() + 24 * 60 * 60 * 1_000);
  for (const over of [{ now: later, provider }, { now }]) {
    const call = readReports(sendgridReports, body, { headers, ...over });
    await expect(call).rejects.toThrow(WrongSignature);
  }
});
