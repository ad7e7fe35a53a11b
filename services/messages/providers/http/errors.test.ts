import { create } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import {
  BrevoSettingsSchema,
  MailgunSettingsSchema,
  MailjetSettingsSchema,
  PostmarkSettingsSchema,
  ResendSettingsSchema,
  SendGridSettingsSchema,
  SesSettingsSchema,
  SparkPostSettingsSchema,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { brevoApi } from '../brevo/api.ts';
import { mailgunApi } from '../mailgun/api.ts';
import { mailjetApi } from '../mailjet/api.ts';
import type { SendOutcome } from '../outcome.ts';
import type { Outgoing } from '../outgoing.ts';
import { postmarkApi } from '../postmark/api.ts';
import { resendApi } from '../resend/api.ts';
import { sendgridApi } from '../sendgrid/api.ts';
import { sesApi } from '../ses/api.ts';
import { sparkpostApi } from '../sparkpost/api.ts';
import type { HttpApi } from './api.ts';

const origin = 'https://api.example';
const apis = {
  ses: sesApi(create(SesSettingsSchema), { origin, host: 'api.example' }),
  sparkpost: sparkpostApi(create(SparkPostSettingsSchema), origin),
  postmark: postmarkApi(create(PostmarkSettingsSchema), origin),
  mailgun: mailgunApi(create(MailgunSettingsSchema), origin),
  mailjet: mailjetApi(create(MailjetSettingsSchema), origin),
  sendgrid: sendgridApi(create(SendGridSettingsSchema), origin),
  brevo: brevoApi(create(BrevoSettingsSchema), origin),
  resend: resendApi(create(ResendSettingsSchema), origin),
} satisfies Record<string, HttpApi>;

type Answer = { status: number; body: unknown; headers?: Record<string, string> };

function outcomeOf(
  name: keyof typeof apis,
  { status, body, headers = {} }: Answer,
  over: Partial<Outgoing> = {},
): SendOutcome | undefined {
  const outgoing: Partial<Outgoing> = {
    ...{ id: 'm1', from: 'me@sender.example', to: 'ann@example.com', copies: [] },
    ...over,
  };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const json = typeof body === 'string' ? undefined : body;
  const outcomes = apis[name].outcomes({ status, headers, text, json }, [outgoing as Outgoing]);
  return outcomes === 'separately' ? undefined : outcomes[0];
}

const sesError = (type: string, message: string, status = 400): Answer => ({
  status,
  body: { message },
  headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/` },
});
const postmarkError = (ErrorCode: number, Message: string): Answer => ({
  status: 422,
  body: { ErrorCode, Message },
});
const resendError = (status: number, name: string, message = ''): Answer => ({
  status,
  body: { statusCode: status, name, message },
});
const mailjetError = (
  StatusCode: number,
  ErrorCode: string,
  ...ErrorRelatedTo: string[]
): Answer => ({
  status: 400,
  body: {
    Messages: [
      {
        Status: 'error',
        Errors: [{ StatusCode, ErrorCode, ErrorMessage: 'wrong', ErrorRelatedTo }],
      },
    ],
  },
});
const sparkpostError = (status: number, code: string): Answer => ({
  status,
  body: { errors: [{ message: 'wrong', code }] },
});

test.each<[keyof typeof apis, Answer, SendOutcome['kind']]>([
  ['ses', sesError('AccountSuspendedException', 'suspended'), 'outage'],
  ['ses', sesError('SendingPausedException', 'paused'), 'outage'],
  ['ses', sesError('MailFromDomainNotVerifiedException', 'no MX'), 'outage'],
  ['ses', sesError('NotFoundException', 'Configuration set <x> does not exist', 404), 'outage'],
  ['ses', sesError('SignatureDoesNotMatch', 'wrong', 403), 'outage'],
  [
    'ses',
    sesError('MessageRejected', 'Email address is not verified: me@sender.example'),
    'outage',
  ],
  ['ses', sesError('MessageRejected', 'Email address is not verified: ann@example.com'), 'failed'],
  ['ses', sesError('MessageRejected', 'The message contains a virus'), 'failed'],
  ['ses', sesError('BadRequestException', 'Invalid MIME'), 'failed'],
  ['ses', sesError('TooManyRequestsException', 'Maximum sending rate exceeded', 429), 'deferred'],
  ['ses', sesError('LimitExceededException', 'Too many'), 'deferred'],
  ['ses', sesError('ThrottlingException', 'Rate exceeded'), 'deferred'],
  ['ses', sesError('TooManyRequestsException', 'Daily message quota exceeded', 429), 'outage'],
  ['ses', { status: 400, body: { __type: 'com.amazonaws#SendingPausedException' } }, 'outage'],
  ['postmark', postmarkError(10, 'token'), 'outage'],
  ['postmark', postmarkError(100, 'maintenance'), 'deferred'],
  ['postmark', postmarkError(300, "Invalid 'To' address: 'ann@'."), 'bounced'],
  ['postmark', postmarkError(300, "Error parsing 'Cc': Illegal email address 'x'."), 'failed'],
  ['postmark', postmarkError(300, "Invalid 'From' address: 'me@'."), 'outage'],
  ['postmark', postmarkError(401, 'not confirmed'), 'outage'],
  ['postmark', postmarkError(402, 'Invalid JSON'), 'failed'],
  ['postmark', postmarkError(406, 'Found inactive addresses: ann@example.com.'), 'bounced'],
  ['postmark', postmarkError(411, 'forbidden attachment'), 'failed'],
  ['postmark', postmarkError(412, 'pending'), 'outage'],
  ['postmark', postmarkError(1235, 'The stream does not exist'), 'outage'],
  [
    'postmark',
    { status: 200, body: { MessageID: 'a', Message: 'delivery may be delayed' } },
    'accepted',
  ],
  ['resend', resendError(401, 'missing_api_key'), 'outage'],
  ['resend', resendError(429, 'daily_quota_exceeded'), 'outage'],
  ['resend', resendError(429, 'monthly_quota_exceeded'), 'outage'],
  ['resend', resendError(429, 'rate_limit_exceeded'), 'deferred'],
  ['resend', resendError(500, 'internal_server_error'), 'deferred'],
  ['resend', resendError(403, 'validation_error', 'The domain is not verified'), 'outage'],
  ['resend', resendError(422, 'invalid_from_address'), 'outage'],
  ['resend', resendError(422, 'validation_error', 'Invalid `to` field.'), 'bounced'],
  ['resend', resendError(422, 'invalid_attachment'), 'failed'],
  ['resend', resendError(451, 'security_error'), 'failed'],
  ['mailgun', { status: 400, body: { message: 'to parameter is not a valid address' } }, 'bounced'],
  [
    'mailgun',
    { status: 400, body: { message: 'from parameter is not a valid address' } },
    'outage',
  ],
  ['mailgun', { status: 404, body: { message: 'Domain not found' } }, 'outage'],
  ['mailgun', { status: 413, body: 'too large' }, 'failed'],
  ['sendgrid', { status: 403, body: { errors: [{ message: 'sender', field: 'from' }] } }, 'outage'],
  [
    'sendgrid',
    { status: 400, body: { errors: [{ message: 'no', field: 'personalizations.0.to.0.email' }] } },
    'bounced',
  ],
  [
    'sendgrid',
    { status: 400, body: { errors: [{ message: 'no', field: 'personalizations.0.cc.0.email' }] } },
    'failed',
  ],
  ['sendgrid', { status: 413, body: {} }, 'failed'],
  ['sparkpost', sparkpostError(400, '5002'), 'bounced'],
  ['sparkpost', sparkpostError(400, '7001'), 'outage'],
  ['sparkpost', sparkpostError(403, ''), 'outage'],
  ['sparkpost', sparkpostError(420, '2101'), 'deferred'],
  ['sparkpost', sparkpostError(422, '1300'), 'failed'],
  ['mailjet', mailjetError(400, 'mj-0013', 'To[0].Email'), 'bounced'],
  ['mailjet', mailjetError(400, 'mj-0013', 'Cc[0].Email'), 'failed'],
  ['mailjet', mailjetError(403, 'send-0008', 'From'), 'outage'],
  ['mailjet', mailjetError(500, 'mj-0001'), 'deferred'],
  [
    'brevo',
    { status: 400, body: { code: 'invalid_parameter', message: 'email is not valid in to' } },
    'bounced',
  ],
  [
    'brevo',
    { status: 400, body: { code: 'invalid_parameter', message: 'email is not valid in cc' } },
    'failed',
  ],
  ['brevo', { status: 402, body: { code: 'not_enough_credits', message: '' } }, 'outage'],
])('%s: %j is %s', (name, answer, kind) => {
  expect(outcomeOf(name, answer)?.kind).toBe(kind);
});

test('postmark lets a recipient bounce who is inactive, although copies were sent', () => {
  const words =
    'Message OK, but will not deliver to these inactive addresses: ann@example.com, x@example.com.';
  const answer = { status: 200, body: { ErrorCode: 0, Message: words, MessageID: 'a' } };
  expect(outcomeOf('postmark', answer, { copies: ['bob@example.com'] })?.kind).toBe('bounced');
  expect(outcomeOf('postmark', answer, { to: 'carl@example.com' })?.kind).toBe('accepted');
  const copies = ['x@example.com'];
  const refused = postmarkError(406, 'Found inactive addresses: x@example.com.');
  expect(outcomeOf('postmark', refused, { copies })?.kind).toBe('failed');
});

test('mailgun lets no recipient bounce for an address that may be that of a copy', () => {
  const body = { message: "'to' parameter is not a valid address. please check documentation" };
  const answer = { status: 400, body };
  expect(outcomeOf('mailgun', answer)?.kind).toBe('bounced');
  expect(outcomeOf('mailgun', answer, { copies: ['x@example.com'] })?.kind).toBe('failed');
});

test('sendgrid says by the second when it takes mail again', () => {
  const headers = { 'x-ratelimit-reset': String(Math.ceil(Date.now() / 1_000) + 60) };
  const outcome = outcomeOf('sendgrid', { status: 429, body: {}, headers });
  const { retryAfterMs = 0 } = outcome?.kind === 'deferred' ? outcome : {};
  expect(retryAfterMs).toBeGreaterThan(55_000);
  expect(retryAfterMs).toBeLessThan(62_000);
});

test.each([
  ['text', 'mail-1', 'mail-1'],
  ['number', 17, '17'],
  ['text that PostgreSQL cannot store', 'a\0b', undefined],
  ['text with a space', 'a b', undefined],
  ['long text', 'a'.repeat(256), undefined],
  ['empty text', '', undefined],
  ['object', { id: 1 }, undefined],
])('an id of a mail that is %s is kept as far as it can be stored', (_, MessageID, providerId) => {
  const body = { ErrorCode: 0, Message: 'OK', MessageID };
  const outcome = outcomeOf('postmark', { status: 200, body });
  expect(outcome).toEqual({ kind: 'accepted', info: '200 OK', ...(providerId && { providerId }) });
});
