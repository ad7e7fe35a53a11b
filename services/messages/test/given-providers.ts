import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { Webhook } from 'svix';
import {
  type EmailProvider,
  EmailProviderSchema,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Egress } from '#lib/outside/egress.ts';
import { ofWorker } from '../../../test/setup/shared.ts';
import { brevoRegistrar } from '../providers/brevo/register.ts';
import { brevoReports } from '../providers/brevo/reports.ts';
import { mailgunRegistrar } from '../providers/mailgun/register.ts';
import { mailgunReports } from '../providers/mailgun/reports.ts';
import { mailjetRegistrar } from '../providers/mailjet/register.ts';
import { mailjetReports } from '../providers/mailjet/reports.ts';
import { postmarkRegistrar } from '../providers/postmark/register.ts';
import { postmarkReports } from '../providers/postmark/reports.ts';
import type { MailProvider } from '../providers/provider.ts';
import { resendRegistrar } from '../providers/resend/register.ts';
import { resendReports } from '../providers/resend/reports.ts';
import { sendgridRegistrar } from '../providers/sendgrid/register.ts';
import { sendgridReports } from '../providers/sendgrid/reports.ts';
import { sesRegistrar } from '../providers/ses/register.ts';
import { sesReports } from '../providers/ses/reports.ts';
import { smtp } from '../providers/smtp/provider.ts';
import { sparkpostRegistrar } from '../providers/sparkpost/register.ts';
import { sparkpostReports } from '../providers/sparkpost/reports.ts';
import { givenCertificate, notificationOf, signSns, snsRegion, snsTopic } from './given-sns.ts';

/** A request of a provider. */
export type Posted = { body: Buffer; headers: Record<string, string> };

/** The mail that an event is about. */
export type Sent = {
  email: string;
  messageId?: string | undefined;
  providerId?: string | undefined;
};

/** A kind of provider: the settings of an account, and its requests. */
export type Poster = {
  kind: string;
  settings: Partial<EmailProvider>;
  bounce(sent: Sent): Posted;
  delivery(sent: Sent): Posted;
  /**
   * Changes one byte of what is signed, or of the signature; absent where nothing but the key
   * authenticates the event.
   */
  change?(posted: Posted, random: () => number): Posted;
};

/** The kinds with the transport of SMTP, since their mails need a server. */
export const reportingProviders: readonly MailProvider[] = Object.entries({
  ses: { reports: sesReports, registrar: sesRegistrar },
  postmark: { reports: postmarkReports, registrar: postmarkRegistrar },
  mailgun: { reports: mailgunReports, registrar: mailgunRegistrar },
  sendgrid: { reports: sendgridReports, registrar: sendgridRegistrar },
  sparkpost: { reports: sparkpostReports, registrar: sparkpostRegistrar },
  resend: { reports: resendReports, registrar: resendRegistrar },
  brevo: { reports: brevoReports, registrar: brevoRegistrar },
  mailjet: { reports: mailjetReports, registrar: mailjetRegistrar },
}).map(([kind, each]) => ({ ...smtp, kind, ...each }));

const json = (body: unknown, headers: Record<string, string> = {}): Posted => ({
  ...{ body: Buffer.from(JSON.stringify(body)), headers },
});
const seconds = () => Math.floor(Date.now() / 1_000);

/** A text with another character at one place. */
function changed(text: string, random: () => number, alphabet = 'abcdef0123456789'): string {
  const at = Math.floor(random() * text.length);
  const before = text.charAt(at);
  const others = [...alphabet].filter((each) => each !== before);
  return text.slice(0, at) + others[Math.floor(random() * others.length)] + text.slice(at + 1);
}

/** Bytes with another one at one place. */
function changedBytes(bytes: Buffer, random: () => number): Buffer {
  const copy = Buffer.from(bytes);
  const at = Math.floor(random() * copy.length);
  copy[at] = (copy[at] ?? 0) ^ (1 + Math.floor(random() * 255));
  return copy;
}

const changedHeader = (posted: Posted, name: string, random: () => number): Posted => ({
  ...posted,
  headers: { ...posted.headers, [name]: changed(posted.headers[name] ?? '', random) },
});

/** Changes the body or one of its headers. */
const changedAnywhere = (posted: Posted, random: () => number): Posted => {
  const names = Object.keys(posted.headers);
  const name = names[Math.floor(random() * (names.length + 2))];
  if (name) return changedHeader(posted, name, random);
  return { ...posted, body: changedBytes(posted.body, random) };
};

/** One for all files of a worker: its process keeps a certificate that it has read. */
export const sns = ofWorker('certificate of SNS', givenCertificate);

/** Answers the certificate of SNS, and refuses everything else. */
export const callAws: Egress['call'] = async ({ url }) => {
  if (!/^https:\/\/sns\.us-east-1\.amazonaws\.com\/[A-Za-z]+-service\.pem$/.test(url)) {
    return { status: 404, headers: {}, body: Buffer.from(''), truncated: false };
  }
  return { status: 200, headers: {}, body: Buffer.from(sns.pem), truncated: false };
};

function sesPoster(): Poster {
  const post = ({ messageId, providerId }: Sent, event: object) => {
    const tags = messageId === undefined ? {} : { postrider_message_id: [messageId] };
    const mail = { mail: { messageId: providerId ?? 'ses-1', destination: ['x@y.example'], tags } };
    return json(signSns(notificationOf({ ...mail, ...event }, 'service'), sns.privateKey));
  };
  return {
    kind: 'ses',
    settings: create(EmailProviderSchema, {
      ses: { region: snsRegion, topicArn: snsTopic, configurationSet: 'mails' },
    }),
    bounce: (sent) => {
      const bouncedRecipients = [{ emailAddress: sent.email }];
      const bounce = { bounceType: 'Permanent', bounceSubType: 'General', bouncedRecipients };
      return post(sent, { eventType: 'Bounce', bounce });
    },
    delivery: (sent) =>
      post(sent, { eventType: 'Delivery', delivery: { recipients: [sent.email] } }),
    change({ body, headers }, random) {
      const message = JSON.parse(body.toString());
      const names = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'];
      const all = [...names, 'Signature', 'SignatureVersion', 'SigningCertURL'];
      const name = all[Math.floor(random() * all.length)] ?? '';
      // The last character of base64 has bits that say nothing.
      const isBase64 = name === 'Signature';
      const [fixed, rest] = isBase64
        ? [message[name].slice(-4), message[name].slice(0, -4)]
        : ['', message[name]];
      const value = changed(rest, random, 'abcdefghijk3456789') + fixed;
      return { ...json({ ...message, [name]: value }), headers };
    },
  };
}

function postmarkPoster(): Poster {
  const post = ({ email, messageId, providerId = 'pm-1' }: Sent, event: object) => {
    const Metadata = messageId === undefined ? {} : { postrider_message_id: messageId };
    return json({ MessageID: providerId, Metadata, Email: email, Recipient: email, ...event });
  };
  return {
    kind: 'postmark',
    settings: create(EmailProviderSchema, { postmark: { serverToken: 'token' } }),
    bounce: (sent) => post(sent, { RecordType: 'Bounce', ID: seconds(), Type: 'HardBounce' }),
    delivery: (sent) => post(sent, { RecordType: 'Delivery' }),
  };
}

function mailgunPoster(): Poster {
  const webhookSigningKey = 'key-0123456789abcdef';
  const post = ({ email, messageId, providerId = 'mg-1' }: Sent, event: object) => {
    const [timestamp, token] = [`${seconds()}`, crypto.randomUUID()];
    const mac = createHmac('sha256', webhookSigningKey).update(timestamp + token);
    return json({
      signature: { timestamp, token, signature: mac.digest('hex') },
      'event-data': {
        ...{ recipient: email, message: { headers: { 'message-id': providerId } } },
        'user-variables': messageId === undefined ? {} : { postrider_message_id: messageId },
        ...event,
      },
    });
  };
  return {
    kind: 'mailgun',
    settings: create(EmailProviderSchema, { mailgun: { domain: 'd.example', webhookSigningKey } }),
    bounce: (sent) => {
      const status = { code: 550, 'enhanced-code': '5.1.1', message: 'no such user' };
      return post(sent, { event: 'failed', severity: 'permanent', 'delivery-status': status });
    },
    delivery: (sent) => post(sent, { event: 'delivered' }),
    // The event itself is not signed.
    change({ body, headers }, random) {
      const request = JSON.parse(body.toString());
      const names = ['timestamp', 'token', 'signature'];
      const name = names[Math.floor(random() * names.length)] ?? '';
      const value = changed(request.signature[name], random);
      const signature = { ...request.signature, [name]: value };
      return { ...json({ ...request, signature }), headers };
    },
  };
}

function sendgridPoster(): Poster {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const webhookPublicKey = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const post = ({ email, messageId, providerId = 'sg-1' }: Sent, event: object) => {
    const tag = messageId === undefined ? {} : { postrider_message_id: messageId };
    const sg = { sg_message_id: `${providerId}.filter`, sg_event_id: crypto.randomUUID() };
    const { body } = json([{ email, ...tag, ...sg, timestamp: seconds(), ...event }]);
    const timestamp = `${seconds()}`;
    const signature = sign('sha256', Buffer.concat([Buffer.from(timestamp), body]), privateKey);
    return {
      body,
      headers: {
        'x-twilio-email-event-webhook-timestamp': timestamp,
        'x-twilio-email-event-webhook-signature': signature.toString('base64'),
      },
    };
  };
  return {
    kind: 'sendgrid',
    settings: create(EmailProviderSchema, { sendgrid: { webhookPublicKey } }),
    bounce: (sent) => {
      const bounce_classification = 'Invalid Address';
      return post(sent, { event: 'bounce', type: 'bounce', bounce_classification });
    },
    delivery: (sent) => post(sent, { event: 'delivered' }),
    change(posted, random) {
      const name = 'x-twilio-email-event-webhook-signature';
      const signature = posted.headers[name] ?? '';
      const made = changedAnywhere(posted, random);
      const bytes = (text = '') => Buffer.from(text, 'base64').toString('hex');
      // The last characters of base64 may say the same.
      return bytes(made.headers[name]) === bytes(signature) &&
        made.body.equals(posted.body) &&
        made.headers['x-twilio-email-event-webhook-timestamp'] ===
          posted.headers['x-twilio-email-event-webhook-timestamp']
        ? changedHeader(posted, 'x-twilio-email-event-webhook-timestamp', random)
        : made;
    },
  };
}

function sparkpostPoster(): Poster {
  const post = ({ email, messageId, providerId = 'sp-1' }: Sent, event: object) => {
    const rcpt_meta = messageId === undefined ? {} : { postrider_message_id: messageId };
    const known = { rcpt_to: email, rcpt_meta, transmission_id: providerId };
    const event_id = crypto.randomUUID();
    return json([{ msys: { message_event: { ...known, event_id, ...event } } }]);
  };
  return {
    kind: 'sparkpost',
    settings: create(EmailProviderSchema, { sparkpost: { apiKey: 'key' } }),
    bounce: (sent) => post(sent, { type: 'bounce', bounce_class: '10' }),
    delivery: (sent) => post(sent, { type: 'delivery' }),
  };
}

function resendPoster(): Poster {
  const webhookSecret = `whsec_${Buffer.from('a secret of Resend').toString('base64')}`;
  const post = ({ email, messageId, providerId = 're-1' }: Sent, type: string, data: object) => {
    const tags = messageId === undefined ? {} : { postrider_message_id: messageId };
    const { body } = json({ type, data: { to: [email], tags, email_id: providerId, ...data } });
    const [id, now] = [`msg_${crypto.randomUUID()}`, new Date()];
    const headers = {
      ...{ 'svix-id': id, 'svix-timestamp': `${Math.floor(now.getTime() / 1_000)}` },
      'svix-signature': new Webhook(webhookSecret).sign(id, now, body.toString()),
    };
    return { body, headers };
  };
  return {
    kind: 'resend',
    settings: create(EmailProviderSchema, { resend: { webhookSecret } }),
    bounce: (sent) => {
      const bounce = { type: 'Permanent', subType: 'General', message: 'none' };
      return post(sent, 'email.bounced', { bounce });
    },
    delivery: (sent) => post(sent, 'email.delivered', {}),
    change: changedAnywhere,
  };
}

function brevoPoster(): Poster {
  const post = ({ email, messageId, providerId = 'br-1' }: Sent, event: string) => {
    const tag = messageId === undefined ? {} : { 'X-Mailin-custom': `postrider:${messageId}` };
    return json({ event, email, 'message-id': `<${providerId}>`, ts_epoch: Date.now(), ...tag });
  };
  return {
    kind: 'brevo',
    settings: create(EmailProviderSchema, { brevo: { apiKey: 'key' } }),
    bounce: (sent) => post(sent, 'hard_bounce'),
    delivery: (sent) => post(sent, 'delivered'),
  };
}

function mailjetPoster(): Poster {
  const post = ({ email, messageId = '', providerId = 'mj-1' }: Sent, event: object) =>
    json([{ email, CustomID: messageId, MessageID: providerId, time: seconds(), ...event }]);
  return {
    kind: 'mailjet',
    settings: create(EmailProviderSchema, { mailjet: { apiKey: 'key' } }),
    bounce: (sent) => post(sent, { event: 'bounce', hard_bounce: true, error: 'user unknown' }),
    delivery: (sent) => post(sent, { event: 'sent' }),
  };
}

export const posters: readonly Poster[] = [
  ...[sesPoster(), postmarkPoster(), mailgunPoster(), sendgridPoster()],
  ...[sparkpostPoster(), resendPoster(), brevoPoster(), mailjetPoster()],
];
