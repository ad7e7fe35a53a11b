import { create } from '@bufbuild/protobuf';
import { beforeEach, expect, test } from '@jest/globals';
import { EmailProviderSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { UnreadableBody, WrongSignature } from '../../reports/report.ts';
import {
  givenCertificate,
  notificationOf,
  signSns,
  snsRegion,
  snsTopic,
} from '../../test/given-sns.ts';
import { meaningOf, messageId, readReports } from '../../test/read-reports.ts';
import { sesReports } from './reports.ts';

const own = givenCertificate();
const foreign = givenCertificate();
const provider = create(EmailProviderSchema, { kind: 'ses', ses: { region: snsRegion } });
const learned = { topic_arn: snsTopic };

const host = 'https://sns.us-east-1.amazonaws.com';
/** Calls, in turn. */
const called: string[] = [];
let status = 200;
beforeEach(() => {
  called.splice(0);
  status = 200;
});

const call = async ({ method, url }: { method: string; url: string }) => {
  called.push(`${method} ${url}`);
  const isCertificate = url === `${host}/SimpleNotificationService-own.pem`;
  const body = Buffer.from(isCertificate ? own.pem : foreign.pem);
  return { status, headers: {}, body, truncated: false };
};
const post = (message: unknown, account: object = {}) =>
  readReports(sesReports, message, { provider, learned, call, ...account });
const signed = (fields: Record<string, string>) => signSns(fields, own.privateKey);
const read = (event: unknown) => post(signed(notificationOf(event, 'own')));

// As in docs.aws.amazon.com/ses, "Contents of event data".
const mail = {
  ...{ timestamp: '2016-01-27T14:59:38.237Z', source: 'john@example.com' },
  ...{ messageId: '00000138111222aa-33322211-cccc-cccc-cccc-ddddaaaa0680-000000' },
  ...{ destination: ['ann@example.com'], headersTruncated: false },
  tags: { 'ses:configuration-set': ['ConfigSet'], postrider_message_id: [messageId] },
};
const bounceOf = (over: object, recipient: object = {}) => ({
  ...{ eventType: 'Bounce', mail },
  bounce: {
    ...{ bounceType: 'Permanent', bounceSubType: 'General', feedbackId: '0100' },
    ...{ timestamp: '2016-01-27T14:59:44.101Z', reportingMTA: 'dns; email.example.com' },
    bouncedRecipients: [{ emailAddress: 'ann@example.com', action: 'failed', ...recipient }],
    ...over,
  },
});
const bounce = bounceOf({}, { diagnosticCode: 'smtp; 550 5.1.1 <ann@example.com>... unknown' });

test('a bounce names the message, the recipient, the time and the words', async () => {
  expect(await read(bounce)).toMatchObject([
    {
      ...{ type: 'bounce', class: 'hard', category: 'Permanent/General' },
      ...{ email: 'ann@example.com', messageId, providerId: mail.messageId },
      at: new Date('2016-01-27T14:59:44.101Z'),
      diagnostic: 'smtp; 550 5.1.1 <[address]>... unknown',
    },
  ]);
});

test.each<[event: object, meaning: string]>([
  [{ eventType: 'Send', mail }, 'nothing'],
  [{ eventType: 'Open', mail }, 'nothing'],
  [{ eventType: 'Click', mail }, 'nothing'],
  [{ eventType: 'DeliveryDelay', mail }, 'nothing'],
  [{ eventType: 'Something', mail }, 'nothing'],
  [{ eventType: 'Delivery', mail, delivery: { recipients: ['ann@example.com'] } }, 'delivered'],
  [
    {
      notificationType: 'Delivery',
      mail,
      delivery: { recipients: ['a@b.example', 'c@b.example'] },
    },
    'delivered, delivered',
  ],
  [{ eventType: 'Reject', mail, reject: { reason: 'Bad content' } }, 'bounce sender'],
  [
    { eventType: 'Rendering Failure', mail, failure: { errorMessage: 'Attribute missing' } },
    'bounce message',
  ],
  [{ eventType: 'Subscription', mail, subscription: {} }, 'complaint left'],
  [bounceOf({}), 'bounce hard'],
  [bounceOf({ bounceSubType: 'NoEmail' }), 'bounce hard'],
  [bounceOf({ bounceSubType: 'Suppressed' }), 'bounce soft'],
  [bounceOf({ bounceSubType: 'OnAccountSuppressionList' }), 'bounce soft'],
  [bounceOf({ bounceType: 'Transient' }), 'bounce soft'],
  [bounceOf({ bounceType: 'Transient', bounceSubType: 'MailboxFull' }), 'bounce soft'],
  [bounceOf({ bounceType: 'Transient', bounceSubType: 'MessageTooLarge' }), 'bounce message'],
  [bounceOf({ bounceType: 'Transient', bounceSubType: 'ContentRejected' }), 'bounce message'],
  [bounceOf({ bounceType: 'Undetermined', bounceSubType: 'Undetermined' }), 'bounce soft'],
  [bounceOf({ bounceType: 'Transient' }, { status: '5.1.1' }), 'bounce hard'],
  [bounceOf({}, { diagnosticCode: 'smtp; 550 5.7.1 policy' }), 'bounce sender'],
  [
    bounceOf({
      bouncedRecipients: [{ emailAddress: 'a@b.example' }, {}, { emailAddress: 'c@b.example' }],
    }),
    'bounce hard, unreadable, bounce hard',
  ],
])('%j is %s', async (event, meaning) => {
  expect(await meaningOf(read, event)).toBe(meaning);
});

test.each([
  [undefined, undefined, 'complaint complaint'],
  ['abuse', '', 'complaint complaint'],
  ['not-spam', undefined, 'complaint'],
  ['abuse', 'OnAccountSuppressionList', 'bounce soft'],
])(
  'a complaint of type %s and subtype %s is %s',
  async (complaintFeedbackType, complaintSubType, meaning) => {
    const complainedRecipients = [{ emailAddress: 'ann@example.com' }];
    const complaint = { complainedRecipients, complaintFeedbackType, complaintSubType };
    expect(await meaningOf(read, { eventType: 'Complaint', mail, complaint })).toBe(meaning);
  },
);

test('a text of SES that is no event is taken and says nothing', async () => {
  const Message = 'Successfully validated SNS topic for Amazon SES event publishing.';
  expect(await post(signed({ ...notificationOf({}, 'own'), Message }))).toEqual([]);
});

test('both versions of signatures are right, with and without a subject, and a repeat has the same keys', async () => {
  const fields = notificationOf(bounce, 'own');
  const keys = new Set<string | undefined>();
  const { Subject: _, ...plain } = fields;
  for (const SignatureVersion of ['1', '2']) {
    for (const each of [fields, plain]) {
      keys.add((await post(signed({ ...each, SignatureVersion })))[0]?.key);
    }
  }
  expect(keys.size).toBe(1);
});

test.each<[string, Record<string, string>]>([
  ['another topic', { TopicArn: 'arn:aws:sns:us-east-1:999999999999:theirs' }],
  ['another type', { Type: 'Other' }],
  ['another version of signatures', { SignatureVersion: '3' }],
  [
    'a certificate at another host',
    {
      SigningCertURL:
        'https://sns.us-east-1.amazonaws.com.evil.example/SimpleNotificationService-own.pem',
    },
  ],
  [
    'a certificate in a bucket of S3',
    { SigningCertURL: 'https://bucket.s3.amazonaws.com/SimpleNotificationService-own.pem' },
  ],
  [
    'a certificate of another region',
    { SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-own.pem' },
  ],
  [
    'a certificate without TLS',
    { SigningCertURL: 'http://sns.us-east-1.amazonaws.com/SimpleNotificationService-own.pem' },
  ],
  [
    'a certificate at another port',
    {
      SigningCertURL: 'https://sns.us-east-1.amazonaws.com:8443/SimpleNotificationService-own.pem',
    },
  ],
  [
    'credentials before the host',
    {
      SigningCertURL:
        'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-own.pem@evil.example/x.pem',
    },
  ],
  [
    'another path',
    { SigningCertURL: 'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-../x.pem' },
  ],
  [
    'a query',
    {
      SigningCertURL: 'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-own.pem?x.pem',
    },
  ],
])('a message with %s is refused, and nobody is called', async (_, over) => {
  const message = signed({ ...notificationOf(bounce, 'own'), ...over });
  await expect(post(message)).rejects.toThrow(WrongSignature);
  expect(called).toEqual([]);
});

test('a message is refused where the integration knows no topic, or its region is no region', async () => {
  const message = signed(notificationOf(bounce, 'own'));
  await expect(post(message, { learned: {} })).rejects.toThrow(WrongSignature);
  const odd = create(EmailProviderSchema, { kind: 'ses', ses: { region: 'evil.example/' } });
  await expect(post(message, { provider: odd })).rejects.toThrow(WrongSignature);
  expect(called).toEqual([]);
});

test('the topic in the settings wins over the one that was made', async () => {
  const message = signed(notificationOf(bounce, 'own'));
  const settings = { region: snsRegion, topicArn: 'arn:aws:sns:us-east-1:123456789012:other' };
  const other = create(EmailProviderSchema, { kind: 'ses', ses: settings });
  await expect(post(message, { provider: other })).rejects.toThrow(WrongSignature);
});

test('a message that another key has signed is refused, and a body that is no message', async () => {
  const fields = notificationOf(bounce, 'own');
  await expect(post(signSns(fields, foreign.privateKey))).rejects.toThrow(WrongSignature);
  for (const body of ['{', '[]', '7', '{}', '{"Type":"Notification"}']) {
    await expect(post(body)).rejects.toThrow(WrongSignature);
  }
});

test('a certificate is fetched once, and a redirect is not followed', async () => {
  const message = signed(notificationOf(bounce, 'once'));
  status = 302;
  await expect(post(message)).rejects.toThrow('answered with 302');
  status = 200;
  const other = signSns(notificationOf(bounce, 'once'), foreign.privateKey);
  await post(other);
  await post(other);
  const url = `GET ${host}/SimpleNotificationService-once.pem`;
  expect(called).toEqual([url, url]);
});

test('a subscription is confirmed at the host of the region alone, whatever URL the message has', async () => {
  const { Subject: _, ...fields } = notificationOf({}, 'own');
  const confirmation = {
    ...{ ...fields, Type: 'SubscriptionConfirmation', Token: 'token & more' },
    SubscribeURL: 'https://evil.example/?Action=ConfirmSubscription',
  };
  expect(await post(signed(confirmation))).toEqual([]);
  const query = `TopicArn=${encodeURIComponent(snsTopic)}&Token=token+%26+more`;
  expect(called).toEqual([`GET ${host}/?Action=ConfirmSubscription&${query}`]);
});

test('the end of a subscription is never confirmed', async () => {
  const { Subject: _, ...fields } = notificationOf({}, 'own');
  const ended = {
    ...{ ...fields, Type: 'UnsubscribeConfirmation', Token: 'token' },
    SubscribeURL: `${host}/?Action=ConfirmSubscription&TopicArn=${snsTopic}&Token=token`,
  };
  expect(await post(signed(ended))).toEqual([]);
  expect(called).toEqual([]);
});

test('every signed field is signed', async () => {
  const message = signed(notificationOf(bounce, 'own'));
  for (const name of ['Message', 'MessageId', 'Subject', 'Timestamp', 'Signature']) {
    const changed = { ...message, [name]: `${message[name]} ` };
    const isBase64 = name === 'Signature';
    const given = isBase64
      ? { ...message, Signature: `AAAA${message.Signature?.slice(4)}` }
      : changed;
    await expect(post(given)).rejects.toThrow(WrongSignature);
  }
});

test('a notification with more than 1,000 recipients is not read', async () => {
  const to = (count: number) => ({
    ...bounce,
    bounce: {
      ...bounce.bounce,
      bouncedRecipients: Array.from({ length: count }, (_, place) => ({
        emailAddress: `r${place}@example.com`,
      })),
    },
  });
  const reports = await read(to(1_000));
  expect(reports).toHaveLength(1_000);
  // The text is that of all, which is too large to be kept for each.
  expect(reports).toContainEqual(expect.objectContaining({ raw: '' }));
  await expect(read(to(1_001))).rejects.toBeInstanceOf(UnreadableBody);
});
