import type { IncomingHttpHeaders } from 'node:http';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { EmailProviderSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { fileOf, lowerNames, readForm, readMime, type SeenMail } from './mail.ts';

export type FakeRequest = { path: string; headers: IncomingHttpHeaders; body: Buffer };
export type FakeAnswer = {
  status: number;
  /** JSON, unless it is a text. */
  body?: unknown;
  headers?: Record<string, string>;
};

/** The fault that a provider finds in a mail; `taken` if none. */
export type Verdict = 'taken' | 'dead' | 'wrongSender' | 'wrongContent';
export type Inspection = { mail: SeenMail; verdict: Verdict; id: string };

/** How a kind reads a request, and how it answers. */
export type FakeKind = {
  /** With the secrets that it knows. */
  settings: MessageInitShape<typeof EmailProviderSchema>;
  /** Whether the request has the right key. */
  knows(request: FakeRequest): boolean;
  read(request: FakeRequest): SeenMail[] | Promise<SeenMail[]>;
  answer(inspections: readonly Inspection[], request: FakeRequest): FakeAnswer;
  wrongKey: FakeAnswer;
  /** Too many requests, in the kind's own way. */
  busy: FakeAnswer;
  /** Nothing more is taken for a day or a month. */
  quota: FakeAnswer;
};

// biome-ignore lint/suspicious/noExplicitAny: a request of another form fails the test.
type Json = Record<string, any>;
const json = ({ body }: FakeRequest): Json => JSON.parse(body.toString());
const one = ([first]: readonly Inspection[]): Inspection => first!;
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
/** The address in `name <address>`. */
const bare = (mailbox: string) => /<([^>]*)>$/.exec(mailbox)?.[1] ?? mailbox;
const emails = (list: Json[] = []): string[] => list.map((each) => each.email ?? each.Email);

const sesErrors = {
  dead: { status: 400, type: 'BadRequestException', message: 'Invalid recipient' },
  wrongSender: {
    status: 400,
    type: 'MessageRejected',
    message:
      'Email address is not verified. The following identities failed the check in region EU-WEST-1: me@sender.example',
  },
  wrongContent: { status: 400, type: 'BadRequestException', message: 'Duplicate header Subject' },
};

const sesError = ({ status, type, message }: (typeof sesErrors)['dead']): FakeAnswer => ({
  status,
  headers: { 'x-amzn-errortype': type },
  body: { message },
});

const postmarkErrors = {
  dead: {
    ErrorCode: 406,
    Message:
      'You tried to send to a recipient that has been marked as inactive. Found inactive addresses: ann@example.com. Inactive recipients are ones that have generated a hard bounce, a spam complaint, or a manual suppression.',
  },
  wrongSender: {
    ErrorCode: 400,
    Message: "The 'From' address you supplied is not a Sender Signature.",
  },
  wrongContent: { ErrorCode: 300, Message: 'Provide either email TextBody or HtmlBody or both.' },
};

const mailjetErrors = {
  dead: {
    ErrorCode: 'mj-0013',
    StatusCode: 400,
    ErrorMessage: '"x" is an invalid email address.',
    ErrorRelatedTo: ['To[0].Email'],
  },
  wrongSender: {
    ErrorCode: 'send-0008',
    StatusCode: 403,
    ErrorMessage: '"me@sender.example" is not an authorized sender email address for your account.',
    ErrorRelatedTo: ['From'],
  },
  wrongContent: {
    ErrorCode: 'send-0011',
    StatusCode: 400,
    ErrorMessage: 'Header cannot be customized',
    ErrorRelatedTo: ['Headers'],
  },
};

const resendErrors = {
  dead: {
    name: 'validation_error',
    message:
      'Invalid `to` field. The email address needs to follow the `email@example.com` format.',
  },
  wrongSender: { name: 'validation_error', message: 'Invalid `from` field.' },
  wrongContent: { name: 'missing_required_field', message: 'Missing `html` or `text` field.' },
};

const readPostmark = (mail: Json): SeenMail => {
  const all = [mail.To, mail.Cc, mail.Bcc].filter(Boolean).join(', ');
  return {
    id: mail.Metadata.postrider_message_id,
    recipients: all.split(/, /).map(bare),
    from: bare(mail.From),
    subject: mail.Subject,
    text: mail.TextBody ?? '',
    html: mail.HtmlBody ?? '',
    headers: {
      ...lowerNames(Object.fromEntries(mail.Headers.map((each: Json) => [each.Name, each.Value]))),
      ...(mail.ReplyTo && { 'reply-to': bare(mail.ReplyTo) }),
    },
    files: (mail.Attachments ?? []).map((file: Json) =>
      fileOf(file.Name, file.ContentType, {
        base64: file.Content,
        contentId: (file.ContentID ?? '').replace('cid:', ''),
      }),
    ),
    stream: mail.MessageStream,
  };
};

const readMailjet = (mail: Json): SeenMail => ({
  id: mail.CustomID,
  recipients: emails([...mail.To, ...(mail.Cc ?? []), ...(mail.Bcc ?? [])]),
  from: mail.From.Email,
  subject: mail.Subject,
  text: mail.TextPart ?? '',
  html: mail.HTMLPart ?? '',
  headers: {
    ...lowerNames(mail.Headers),
    ...(mail.ReplyTo && { 'reply-to': mail.ReplyTo.Email }),
  },
  files: [...(mail.Attachments ?? []), ...(mail.InlinedAttachments ?? [])].map((file: Json) =>
    fileOf(file.Filename, file.ContentType, {
      base64: file.Base64Content,
      contentId: file.ContentID ?? '',
    }),
  ),
});

const readResend = (mail: Json): SeenMail => ({
  id: mail.tags[0].value,
  recipients: [...mail.to, ...(mail.cc ?? []), ...(mail.bcc ?? [])].map(bare),
  from: bare(mail.from),
  subject: mail.subject,
  text: mail.text ?? '',
  html: mail.html ?? '',
  headers: {
    ...lowerNames(mail.headers),
    ...(mail.reply_to && { 'reply-to': bare(mail.reply_to[0]) }),
  },
  files: (mail.attachments ?? []).map((file: Json) =>
    fileOf(file.filename, file.content_type, {
      base64: file.content,
      contentId: file.content_id ?? '',
    }),
  ),
});

export const fakeKinds = {
  ses: {
    settings: {
      kind: 'ses',
      ses: { region: 'eu-west-1', accessKey: 'AKID', secretKey: 'secret', configurationSet: 'set' },
    },
    knows: ({ headers }) =>
      headers.host === 'email.eu-west-1.amazonaws.com' &&
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-west-1\/ses\/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=[0-9a-f]{64}$/.test(
        headers.authorization ?? '',
      ),
    read: async (request) => {
      const { Destination, Content, EmailTags, ConfigurationSetName } = json(request);
      if (ConfigurationSetName !== 'set') throw new Error('no configuration set');
      const recipients = Object.values<string[]>(Destination).flat();
      const mime = Buffer.from(Content.Raw.Data, 'base64');
      return [await readMime(mime, { id: EmailTags[0].Value, recipients })];
    },
    answer: (inspections) => {
      const { verdict, id } = one(inspections);
      return verdict === 'taken'
        ? { status: 200, body: { MessageId: id } }
        : sesError(sesErrors[verdict]);
    },
    wrongKey: {
      status: 403,
      headers: { 'x-amzn-errortype': 'SignatureDoesNotMatch' },
      body: { message: 'The request signature we calculated does not match' },
    },
    busy: sesError({
      status: 429,
      type: 'TooManyRequestsException',
      message: 'Maximum sending rate exceeded.',
    }),
    quota: sesError({
      status: 429,
      type: 'TooManyRequestsException',
      message: 'Daily message quota exceeded.',
    }),
  },
  sparkpost: {
    settings: { kind: 'sparkpost', sparkpost: { apiKey: 'spark-key' } },
    knows: ({ path, headers }) =>
      path === '/api/v1/transmissions' && headers.authorization === 'spark-key',
    read: async (request) => {
      const { metadata, recipients, content, options } = json(request);
      if (!options.transactional) throw new Error('List-Unsubscribe would be replaced');
      const to = recipients.map(({ address }: Json) => address.email);
      const mime = Buffer.from(content.email_rfc822);
      return [await readMime(mime, { id: metadata.postrider_message_id, recipients: to })];
    },
    answer: (inspections) => {
      const { verdict, id } = one(inspections);
      const errors = {
        dead: { status: 400, code: '5002', message: 'At least one valid recipient is required' },
        wrongSender: { status: 400, code: '7001', message: 'Unconfigured Sending Domain' },
        wrongContent: { status: 422, code: '1300', message: 'invalid data format/type' },
      };
      if (verdict !== 'taken') {
        const { status, ...error } = errors[verdict];
        return { status, body: { errors: [error] } };
      }
      const total = { total_rejected_recipients: 0, total_accepted_recipients: 1 };
      return { status: 200, body: { results: { ...total, id } } };
    },
    wrongKey: { status: 401, body: { errors: [{ message: 'Unauthorized.' }] } },
    busy: {
      status: 420,
      body: { errors: [{ message: 'Exceed Sending Limit (hourly)', code: '2101' }] },
    },
    quota: { status: 403, body: { errors: [{ message: 'Account is suspended for billing' }] } },
  },
  postmark: {
    settings: { kind: 'postmark', postmark: { serverToken: 'server-token' } },
    knows: ({ path, headers }) =>
      path.startsWith('/email') && headers['x-postmark-server-token'] === 'server-token',
    read: (request) => [json(request)].flat().map((mail) => readPostmark(mail as Json)),
    answer: (inspections, { path }) => {
      const each = inspections.map(({ mail, verdict, id }) =>
        verdict === 'taken'
          ? { ErrorCode: 0, Message: 'OK', MessageID: id, To: mail.recipients[0] }
          : postmarkErrors[verdict],
      );
      if (path === '/email/batch') return { status: 200, body: each };
      return { status: each[0]?.ErrorCode === 0 ? 200 : 422, body: each[0] };
    },
    wrongKey: { status: 401, body: { ErrorCode: 10, Message: 'No Account or Server API tokens' } },
    busy: { status: 429, body: { ErrorCode: 429, Message: 'Rate limit exceeded' } },
    quota: {
      status: 422,
      body: { ErrorCode: 405, Message: 'Not allowed to send: out of credits' },
    },
  },
  mailgun: {
    settings: { kind: 'mailgun', mailgun: { apiKey: 'gun-key', domain: 'mg.example.com' } },
    knows: ({ path, headers }) =>
      path === '/v3/mg.example.com/messages.mime' && headers.authorization === basic('api:gun-key'),
    read: async ({ body, headers }) => {
      const form = readForm(body, headers['content-type'] ?? '');
      const all = (name: string) =>
        form.filter(([each]) => each === name).map(([, value]) => value);
      const [id = ''] = all('v:postrider_message_id');
      const [mime = ''] = all('message');
      return [await readMime(Buffer.from(mime, 'latin1'), { id, recipients: all('to') })];
    },
    answer: (inspections) => {
      const { verdict, id } = one(inspections);
      const errors = {
        dead: 'to parameter is not a valid address. please check documentation',
        wrongSender: 'from parameter is not a valid address. please check documentation',
        wrongContent: 'Need at least one of text, html or template',
      };
      return verdict === 'taken'
        ? { status: 200, body: { id: `<${id}>`, message: 'Queued. Thank you.' } }
        : { status: 400, body: { message: errors[verdict] } };
    },
    wrongKey: { status: 401, body: 'Forbidden' },
    busy: { status: 429, body: { message: 'Too many requests' } },
    quota: { status: 402, body: { message: 'Sending limit reached' } },
  },
  mailjet: {
    settings: { kind: 'mailjet', mailjet: { apiKey: 'jet-key', secretKey: 'jet-secret' } },
    knows: ({ path, headers }) =>
      path === '/v3.1/send' && headers.authorization === basic('jet-key:jet-secret'),
    read: (request) => json(request).Messages.map(readMailjet),
    answer: (inspections) => {
      const Messages = inspections.map(({ mail, verdict, id }) =>
        verdict === 'taken'
          ? {
              Status: 'success',
              CustomID: mail.id,
              To: [
                {
                  Email: mail.recipients[0],
                  MessageUUID: id,
                  MessageID: 1152921513498640123n.toString(),
                },
              ],
            }
          : { Status: 'error', Errors: [mailjetErrors[verdict]] },
      );
      const isWrong = inspections.some(({ verdict }) => verdict !== 'taken');
      return { status: isWrong ? 400 : 200, body: { Messages } };
    },
    wrongKey: {
      status: 401,
      body: {
        ErrorCode: 'mj-0002',
        StatusCode: 401,
        ErrorMessage: 'API key authentication failed.',
      },
    },
    busy: { status: 429, body: { StatusCode: 429, ErrorMessage: 'Too many requests' } },
    quota: { status: 403, body: { StatusCode: 403, ErrorMessage: 'Account is blocked: quota' } },
  },
  sendgrid: {
    settings: { kind: 'sendgrid', sendgrid: { apiKey: 'SG.key' } },
    knows: ({ path, headers }) =>
      path === '/v3/mail/send' && headers.authorization === 'Bearer SG.key',
    read: (request) => {
      const { personalizations, from, reply_to, subject, content, headers, attachments } =
        json(request);
      const [{ to, cc, bcc, custom_args }] = personalizations;
      const textOf = (type: string) =>
        content.find((each: Json) => each.type === type)?.value ?? '';
      return [
        {
          id: custom_args.postrider_message_id,
          recipients: emails([...to, ...(cc ?? []), ...(bcc ?? [])]),
          from: from.email,
          subject,
          text: textOf('text/plain'),
          html: textOf('text/html'),
          headers: { ...lowerNames(headers), ...(reply_to && { 'reply-to': reply_to.email }) },
          files: (attachments ?? []).map((file: Json) =>
            fileOf(file.filename, file.type, {
              base64: file.content,
              contentId: file.content_id ?? '',
            }),
          ),
        },
      ];
    },
    answer: (inspections) => {
      const { verdict, id } = one(inspections);
      const errors = {
        dead: {
          field: 'personalizations.0.to.0.email',
          message: 'Does not contain a valid address.',
        },
        wrongSender: {
          field: 'from',
          message: 'The from address does not match a verified Sender Identity.',
        },
        wrongContent: { field: 'content', message: 'The content value must be a string.' },
      };
      return verdict === 'taken'
        ? { status: 202, headers: { 'x-message-id': id }, body: '' }
        : { status: verdict === 'wrongSender' ? 403 : 400, body: { errors: [errors[verdict]] } };
    },
    wrongKey: {
      status: 401,
      body: { errors: [{ message: 'The provided authorization grant is invalid' }] },
    },
    busy: { status: 429, body: { errors: [{ message: 'too many requests' }] } },
    quota: { status: 401, body: { errors: [{ message: 'Maximum credits exceeded' }] } },
  },
  brevo: {
    settings: { kind: 'brevo', brevo: { apiKey: 'xkeysib' } },
    knows: ({ path, headers }) => path === '/v3/smtp/email' && headers['api-key'] === 'xkeysib',
    read: (request) => {
      const {
        to,
        cc,
        bcc,
        sender,
        replyTo,
        subject,
        htmlContent,
        textContent,
        headers,
        attachment,
      } = json(request);
      if (!htmlContent) throw new Error('htmlContent is missing');
      return [
        {
          id: JSON.parse(headers['X-Mailin-custom']).postrider_message_id,
          recipients: emails([...to, ...(cc ?? []), ...(bcc ?? [])]),
          from: sender.email,
          subject,
          text: textContent ?? '',
          html: htmlContent,
          headers: { ...lowerNames(headers), ...(replyTo && { 'reply-to': replyTo.email }) },
          files: (attachment ?? []).map((file: Json) =>
            fileOf(file.name, '', { base64: file.content, contentId: '' }),
          ),
        },
      ];
    },
    answer: (inspections) => {
      const { verdict, id } = one(inspections);
      const errors = {
        dead: 'email is not valid in to',
        wrongSender: 'Sending has been rejected because the sender you used is not valid',
        wrongContent: 'Invalid template',
      };
      return verdict === 'taken'
        ? { status: 201, body: { messageId: `<${id}>` } }
        : { status: 400, body: { code: 'invalid_parameter', message: errors[verdict] } };
    },
    wrongKey: { status: 401, body: { code: 'unauthorized', message: 'Key not found' } },
    busy: {
      status: 429,
      headers: { 'x-sib-ratelimit-reset': '17' },
      body: { code: 'too_many_requests', message: 'API rate limit' },
    },
    quota: { status: 402, body: { code: 'not_enough_credits', message: 'No credits left' } },
  },
  resend: {
    settings: { kind: 'resend', resend: { apiKey: 're_key' } },
    knows: ({ path, headers }) =>
      path.startsWith('/emails') && headers.authorization === 'Bearer re_key',
    read: (request) => {
      const mails = [json(request)].flat().map((mail) => readResend(mail as Json));
      if (mails.length > 1 && mails.some(({ files }) => files.length > 0)) {
        throw new Error('a batch has no files');
      }
      return mails;
    },
    answer: (inspections, { path, headers }) => {
      const isPermissive = headers['x-batch-validation'] === 'permissive';
      const wrong = inspections.findIndex(({ verdict }) => verdict !== 'taken');
      const { verdict = 'taken' } = inspections[wrong] ?? {};
      if (
        verdict !== 'taken' &&
        (path === '/emails' || !isPermissive || verdict === 'wrongSender')
      ) {
        return { status: 422, body: { statusCode: 422, ...resendErrors[verdict] } };
      }
      const taken = inspections.filter((each) => each.verdict === 'taken');
      if (path === '/emails') return { status: 200, body: { id: one(inspections).id } };
      const errors = inspections.flatMap((each, index) =>
        each.verdict === 'taken' ? [] : [{ index, message: resendErrors[each.verdict].message }],
      );
      return { status: 200, body: { data: taken.map(({ id }) => ({ id })), errors } };
    },
    wrongKey: { status: 401, body: { name: 'missing_api_key', message: 'Missing API key' } },
    busy: { status: 429, body: { name: 'rate_limit_exceeded', message: 'Too many requests' } },
    quota: {
      status: 429,
      body: { name: 'daily_quota_exceeded', message: 'You have reached your daily quota' },
    },
  },
} satisfies Record<string, FakeKind>;
