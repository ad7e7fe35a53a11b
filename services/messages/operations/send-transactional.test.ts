import { Code } from '@connectrpc/connect';
import { beforeAll, expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { resetAfterEach, useService } from '../test/given.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';
import { defaultContent } from '../test/given-peers.ts';

const workspaceId = 'w1';
const given = useService();
resetAfterEach(given);
// On a busy machine a message may not be begun within its five seconds.
beforeAll(() => given.context.transactional.queue.start());

const ada = 'ada@example.com';

async function mailTo(email: string) {
  await until('the mail arrives', async () => given.sink.bodies(email).length > 0);
  return PostalMime.parse(given.sink.bodies(email)[0] ?? '');
}

const rowOf = async (id: string) => {
  const rows = await query<Record<string, unknown>>(
    given.store.fork(),
    'select * from messages where id = $1',
    [id],
  );
  return rows[0];
};

const statusOf = (id: string, status: string) =>
  until(`the message is ${status}`, async () => (await rowOf(id))?.status === status, {
    withinMs: 15_000,
  });

test('send answers when the message is stored, and sends it at once', async () => {
  const id = await givenNotification(given);
  given.world.fields.set(ada, { first_name: 'Ada' });
  given.world.content = {
    ...defaultContent,
    subject: 'Order {{ order }}',
    html: '<p>Hi {{ contact.first_name }}, {{ order }} [{{ unsubscribe_url }}]</p>',
  };
  const fresh = given.newProcess();
  const answer = await fresh.transactional.sendTransactional(
    sendOf(id, { contact: { email: ' Ada@Example.com' }, data: { order: '1042' } }),
  );
  expect(answer).toMatchObject({ success: true, suppressed: [] });
  expect(await rowOf(answer.messageId)).toMatchObject({
    contact_email: ada,
    notification_id: id,
    list_id: null,
  });
  const mail = await mailTo(ada);
  expect(mail.subject).toBe('Order 1042');
  expect(mail.html).toContain('Hi Ada, 1042 []');
  expect(mail.headers.some(({ key }) => key.startsWith('list-'))).toBe(false);
  await statusOf(answer.messageId, 'sent');
  await fresh.context.transactional.stop();
});

test('options change From, subject, preview line, replies, copies and headers, and bcc is in no header', async () => {
  const id = await givenNotification(given);
  given.world.content = {
    ...defaultContent,
    replyTo: 'template@sender.example',
    html: '<html><body style="x"><div style="display:none;a">old line</div><p>Hi</p></body></html>',
  };
  const fresh = given.newProcess();
  await fresh.transactional.sendTransactional(
    sendOf(id, {
      data: { order: '<1042>' },
      emailOptions: {
        fromName: 'Zoë, Shop',
        subject: 'Order {{ order }} ✓',
        subjectPreview: 'Paid: {{ order }}',
        replyTo: 'help@shop.example',
        cc: ['Boss@Example.com'],
        bcc: ['audit@example.com', 'boss@example.com'],
        listUnsubscribeUrl: 'https://shop.example/leave',
        headers: { 'X-Order': '1042', 'In-Reply-To': `<${'a'.repeat(70)}@shop.example>` },
      },
    }),
  );
  const mail = await mailTo(ada);
  expect(mail).toMatchObject({
    from: { name: 'Zoë, Shop', address: 'news@sender.example' },
    subject: 'Order <1042> ✓',
    replyTo: [{ address: 'help@shop.example' }],
    cc: [{ address: 'boss@example.com' }],
    inReplyTo: `<${'a'.repeat(70)}@shop.example>`,
  });
  expect(mail.html).toContain('Paid: &lt;1042&gt;');
  expect(mail.html).not.toContain('old line');
  const headers = new Map(mail.headers.map(({ key, value }) => [key, value]));
  expect(headers.get('x-order')).toBe('1042');
  expect(headers.get('list-unsubscribe')).toBe('<https://shop.example/leave>');
  expect(headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
  expect(JSON.stringify(mail.headers)).not.toContain('audit@');
  expect(given.sink.bodies('audit@example.com')).toHaveLength(1);
  expect(given.sink.bodies('boss@example.com')).toHaveLength(1);
  expect(given.sink.bodies('audit@example.com')[0]).toBe(given.sink.bodies(ada)[0]);
  await fresh.context.transactional.stop();
});

test('a subject of the message may be Liquid that takes long, and is rendered in a thread', async () => {
  const id = await givenNotification(given);
  const subject = 'Lines:{% for line in lines %} {{ line }}{% endfor %}';
  await given.transactional.sendTransactional(
    sendOf(id, { data: { lines: ['a', 'b'] }, emailOptions: { subject } }),
  );
  expect((await mailTo(ada)).subject).toBe('Lines: a b');
});

test('attachments and inline images arrive as they were given, whatever their names', async () => {
  const id = await givenNotification(given);
  const pdf = Buffer.from(Array.from({ length: 5_000 }, (_, n) => n % 256));
  const png = Buffer.from('89504e470d0a1a0a', 'hex');
  const name = 'Rechnung für Zoë "1042"; 日本語の長い名前のファイルです、とても長い名前.pdf';
  const { messageId } = await given.transactional.sendTransactional(
    sendOf(id, {
      emailOptions: {
        attachments: [
          { filename: name, content: pdf.toString('base64') },
          { filename: 'logo.png', content: png.toString('base64'), disposition: 'inline' },
        ],
      },
    }),
  );
  const { attachments } = await mailTo(ada);
  expect(
    attachments.map(({ filename, mimeType, disposition, contentId }) => ({
      filename,
      mimeType,
      disposition,
      contentId,
    })),
  ).toEqual([
    { filename: 'logo.png', mimeType: 'image/png', disposition: 'inline', contentId: '<logo.png>' },
    {
      filename: name,
      mimeType: 'application/pdf',
      disposition: 'attachment',
      contentId: undefined,
    },
  ]);
  expect(Buffer.from(attachments[1]?.content as ArrayBuffer)).toEqual(pdf);
  const stored = await query<{ attachments: unknown; content: Buffer }>(
    given.store.fork(),
    `select r.attachments, a.content from message_requests r join message_attachments a using (message_id)
     where message_id = $1 order by a.place`,
    [messageId],
  );
  expect(stored[0]?.content).toEqual(pdf);
  expect(stored[0]?.attachments).toMatchObject([
    { filename: name, content_type: 'application/pdf', size_bytes: 5_000 },
    { filename: 'logo.png', disposition: 'inline', content_id: 'logo.png' },
  ]);
});

test('the preference link of transactional mail shows the lists of its recipient, and confirms nothing', async () => {
  const id = await givenNotification(given);
  given.world.content = { ...defaultContent, html: '<p>[{{ notification_center_url }}]</p>' };
  given.world.subscribers.set(ada, { subscriptions: [{ listId: 'weekly', listName: 'Weekly' }] });
  const fresh = given.newProcess();
  await fresh.transactional.sendTransactional(sendOf(id));
  const { html = '' } = await mailTo(ada);
  const token = /\/p\/w1\/([\w-]+)\]/.exec(html)?.[1] ?? '';
  expect(await fresh.links.getLink({ workspaceId, token })).toMatchObject({
    listId: '',
    isConfirmation: false,
    subscriptions: [{ listId: 'weekly' }],
  });
  await fresh.links.unsubscribeByLink({ workspaceId, token });
  expect(given.world.unsubscribed).toEqual([]);
  await expect(fresh.links.confirmByLink({ workspaceId, token })).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
  await fresh.context.transactional.stop();
});

test('fifty parallel calls with one external_id are one message, and get the same answer', async () => {
  const id = await givenNotification(given);
  const other = given.newProcess();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      (index % 2 === 0 ? given : other).transactional.sendTransactional(
        sendOf(id, { externalId: `order-${id}` }),
      ),
    ),
  );
  const [first] = answers;
  expect(answers).toEqual(Array(50).fill(first));
  await statusOf(first?.messageId ?? '', 'sent');
  expect(given.sink.bodies(ada)).toHaveLength(1);
  await other.context.transactional.stop();
});

test('a call with an Idempotency-Key sends its message itself, and a repeat gets its answer', async () => {
  const id = await givenNotification(given);
  const process = given.newProcess();
  const headers = { 'idempotency-key': `key-${id}` };
  const request = sendOf(id, { contact: { email: `keyed-${id}@example.com` } });
  const first = await process.transactional.sendTransactional(request, { headers });
  // One in the queue is `deferred`.
  expect(['sending', 'sent']).toContain((await rowOf(first.messageId))?.status);
  let isReplayed = false;
  const onHeader = (header: Headers) => {
    isReplayed = header.get('idempotency-replayed') === 'true';
  };
  const again = await process.transactional.sendTransactional(request, { headers, onHeader });
  expect([again, isReplayed]).toEqual([first, true]);
  await statusOf(first.messageId, 'sent');
  await process.context.transactional.stop();
});

test('calls of one group with the same Idempotency-Key are one message; another request with it is refused, and nobody else', async () => {
  const id = await givenNotification(given);
  const to = (name: string) => sendOf(id, { contact: { email: `${name}-${id}@example.com` } });
  const keyed = (key: string) => ({ headers: { 'idempotency-key': `${key}-${id}` } });
  const release = Promise.withResolvers<void>();
  given.world.resolving = () => release.promise;
  // The others are one group while this one waits.
  const calls = [
    given.transactional.sendTransactional(to('ahead')),
    ...Array.from({ length: 20 }, () =>
      given.transactional.sendTransactional(to('same'), keyed('same')),
    ),
    given.transactional.sendTransactional(to('other'), keyed('same')),
    given.transactional.sendTransactional(to('alone'), keyed('alone')),
    given.transactional.sendTransactional(to('free')),
  ];
  await until('one waits', async () => given.world.asked > 0);
  release.resolve();
  const outcomes = await Promise.allSettled(calls);
  const same = outcomes
    .slice(1, 21)
    .map((each) => (each.status === 'fulfilled' ? each.value.messageId : each.reason));
  expect(new Set(same)).toEqual(new Set([expect.any(String)]));
  expect(outcomes.slice(21)).toMatchObject([
    { status: 'rejected', reason: { code: Code.AlreadyExists } },
    { status: 'fulfilled', value: { success: true } },
    { status: 'fulfilled', value: { success: true } },
  ]);
  await until('four arrive', async () => given.sink.total() === 4);
  const rows = await query(
    given.store.fork(),
    'select 1 from messages where notification_id = $1',
    [id],
  );
  expect(rows).toHaveLength(4);
});

test('a message that failed frees its external_id, and one that bounced does not', async () => {
  const id = await givenNotification(given);
  given.sink.behaviour.replies = [
    { step: 'rcpt', recipient: '^broken@', reply: '554 5.6.0 we do not like it' },
    { step: 'rcpt', recipient: '^gone@', reply: '550 5.1.1 no such user' },
  ];
  const send = (email: string) =>
    given.transactional.sendTransactional(
      sendOf(id, { contact: { email }, externalId: `${id}-${email}` }),
    );
  const broken = await send('broken@example.com');
  const gone = await send('gone@example.com');
  await statusOf(broken.messageId, 'failed');
  await statusOf(gone.messageId, 'failed');
  expect((await send('broken@example.com')).messageId).not.toBe(broken.messageId);
  expect(await send('gone@example.com')).toMatchObject({
    messageId: gone.messageId,
    success: true,
    suppressed: [{ email: 'gone@example.com', reason: 'bounced' }],
  });
});

test('an address that bounced gets nothing unless the notification says so; copies to it are left out', async () => {
  const [id, brave] = [
    await givenNotification(given),
    await givenNotification(given, { sendToBounced: true }),
  ];
  const [dead, cross] = [`dead-${id}@example.com`, `cross-${id}@example.com`];
  await query(
    given.store.fork(),
    `insert into suppressions select 'w1', email, reason, now() from unnest($1::text[], $2::text[]) as s (email, reason)`,
    [
      [dead, cross],
      ['bounced', 'complained'],
    ],
  );
  const to = (email: string) => ({ contact: { email } });
  const refused = await given.transactional.sendTransactional(sendOf(id, to(dead)));
  expect(refused).toMatchObject({
    success: false,
    suppressed: [{ email: dead, reason: 'bounced', isSent: false }],
  });
  expect(await rowOf(refused.messageId)).toMatchObject({
    status: 'failed',
    status_info: 'bounced',
  });
  expect(await given.transactional.sendTransactional(sendOf(id, to(cross)))).toMatchObject({
    success: true,
    suppressed: [{ email: cross, reason: 'complained', isSent: true }],
  });
  const copied = sendOf(id, { emailOptions: { cc: [dead, 'boss@example.com'] } });
  expect(await given.transactional.sendTransactional(copied)).toMatchObject({ success: true });
  expect((await mailTo(ada)).cc).toMatchObject([{ address: 'boss@example.com' }]);
  expect(given.sink.bodies(dead)).toHaveLength(0);
  expect(await given.transactional.sendTransactional(sendOf(brave, to(dead)))).toMatchObject({
    success: true,
    suppressed: [{ email: dead, isSent: true }],
  });
  await mailTo(dead);
});

test('a refused copy keeps the message from nobody else, and a refused recipient gets no copies sent', async () => {
  const id = await givenNotification(given);
  given.sink.behaviour.replies = [
    { step: 'rcpt', recipient: '^nobody@', reply: '550 5.1.1 no such user' },
  ];
  const cc = ['nobody@example.com', 'boss@example.com'];
  const sent = await given.transactional.sendTransactional(sendOf(id, { emailOptions: { cc } }));
  await statusOf(sent.messageId, 'sent');
  expect(await rowOf(sent.messageId)).toMatchObject({
    status_info: expect.stringMatching(/^1 of 2 copies refused; 250 /),
  });
  expect(given.sink.bodies('boss@example.com')).toHaveLength(1);
  const contact = { email: 'nobody@example.com' };
  const emailOptions = { bcc: ['audit@example.com'] };
  const failed = await given.transactional.sendTransactional(sendOf(id, { contact, emailOptions }));
  await statusOf(failed.messageId, 'failed');
  expect(given.sink.bodies('audit@example.com')).toHaveLength(0);
});

test('a message waits for its send_at, and can be cancelled until then', async () => {
  const id = await givenNotification(given);
  const sendAt = new Date(Date.now() + 60_000);
  const at = { seconds: BigInt(Math.floor(sendAt.getTime() / 1_000)), nanos: 0 };
  const later = await given.transactional.sendTransactional(sendOf(id, { sendAt: at }));
  expect(await rowOf(later.messageId)).toMatchObject({ status: 'deferred', attempts: 0 });
  const cancel = (messageId: string) =>
    given.transactional.cancelTransactional({ workspaceId, messageId });
  await cancel(later.messageId);
  expect(await cancel(later.messageId)).toMatchObject({ success: true });
  expect(await rowOf(later.messageId)).toMatchObject({ status: 'cancelled' });
  const sent = await given.transactional.sendTransactional(sendOf(id));
  await statusOf(sent.messageId, 'sent');
  await expect(cancel(sent.messageId)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: 'cannot cancel a message that is sent',
  });
  await expect(cancel(crypto.randomUUID())).rejects.toMatchObject({ code: Code.NotFound });
});

test('unknown notifications are a 404, and a workspace without a provider is told so', async () => {
  await expect(given.transactional.sendTransactional(sendOf('nothing'))).rejects.toMatchObject({
    code: Code.NotFound,
    rawMessage: 'Notification not found',
  });
  const id = await givenNotification(given);
  given.world.transactionalProvider = '';
  await expect(
    given.newProcess().transactional.sendTransactional(sendOf(id)),
  ).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage:
      'no email provider configured for transactional notifications: workspaces.update sets it, by settings.transactional_email_provider_id',
  });
});

const b64 = (size: number) => Buffer.alloc(size).toString('base64');
const file = { filename: 'a.txt', content: b64(1) };

const refusals: [wrong: object, text: string | RegExp][] = [
  [{ id: '' }, 'notification.id is required'],
  [{ id: 'a\0b' }, /notification.id must be 1 to 32 letters/],
  [{ id: 'x'.repeat(33) }, /notification.id must be 1 to 32 letters/],
  [{ contact: undefined }, 'notification.contact is required'],
  [{ contact: { email: 'nobody' } }, /^notification.contact is invalid: contact.email must be one/],
  [{ contact: { email: ada, timezone: 'Mars' } }, 'invalid contact: invalid timezone: Mars'],
  [{ channels: ['sms'] }, 'no valid channels to send notification'],
  [{ externalId: 'x'.repeat(256) }, 'external_id must be 1 to 255 characters'],
  [{ data: { a: 'x'.repeat(300_000) } }, /data must be at most 256 KiB/],
  [{ emailOptions: { cc: [''] } }, "cc '' must be a valid email address"],
  [{ emailOptions: { bcc: ['a b'] } }, "bcc 'a b' must be a valid email address"],
  [{ emailOptions: { replyTo: 'x\r\nBcc: y@z.example' } }, /replyTo 'x {2}Bcc: .* must be a valid/],
  [{ emailOptions: { subject: 'x'.repeat(256) } }, 'subject length must not exceed 255 characters'],
  [{ emailOptions: { subject: 'a\nBcc: b@c.example' } }, /subject must not contain line breaks/],
  [{ emailOptions: { subject: '{% if %}' } }, /subject is not valid Liquid/],
  [
    { emailOptions: { listUnsubscribeUrl: 'http://a.example' } },
    /list_unsubscribe_url must be an https/,
  ],
  [
    { emailOptions: { listUnsubscribeUrl: `https://a.example/${'a'.repeat(961)}` } },
    /list_unsubscribe_url length must not exceed 978 characters: its header is one line/,
  ],
  [{ emailOptions: { headers: { Bcc: 'a@b.example' } } }, "header 'Bcc' is not allowed"],
  ...[
    ...['X-SMTPAPI', 'x-mailgun-variables', 'X-MC-Metadata', 'X-PM-Message-Stream', 'X-MSYS-API'],
    ...['X-SES-CONFIGURATION-SET', 'X-Mailin-custom', 'X-MJ-CustomID', 'X-Mailjet-Campaign'],
  ].map((name): [object, string | RegExp] => [
    { emailOptions: { headers: { [name]: 'x' } } },
    `header '${name}' is not allowed`,
  ]),
  [{ emailOptions: { headers: { 'X-A': 'b\r\nBcc: c' } } }, /header 'X-A' must be one line/],
  [
    { emailOptions: { attachments: Array(21).fill(file) } },
    /maximum 20 attachments allowed, got 21/,
  ],
  [
    { emailOptions: { attachments: [{ ...file, filename: '../a' }] } },
    /attachment 0: filename must not contain path/,
  ],
  [
    { emailOptions: { attachments: [{ ...file, filename: 'a.EXE. ' }] } },
    /file extension .exe is not supported/,
  ],
  [
    { emailOptions: { attachments: [{ ...file, content: 'a$b' }] } },
    /content must be valid base64/,
  ],
  [
    { emailOptions: { attachments: [{ ...file, contentType: 'a/b\r\nX: y' }] } },
    /content_type is not a media type/,
  ],
  [
    { emailOptions: { attachments: [{ ...file, contentType: 'multipart/mixed' }] } },
    /content_type must not be multipart or message/,
  ],
  [
    { emailOptions: { attachments: [{ ...file, contentType: 'text/plain; charset="' }] } },
    /content_type has a parameter that is neither name=value nor name="value"/,
  ],
  [
    { emailOptions: { attachments: [{ ...file, contentType: 'text/plain; a=b; A=c' }] } },
    /content_type has the parameter a twice/,
  ],
  [
    { emailOptions: { attachments: [{ ...file, contentType: `a/b; c=${'d'.repeat(500)}` }] } },
    /content_type must be at most 500 characters/,
  ],
  [{ emailOptions: { attachments: [{ ...file, disposition: 'x' }] } }, /disposition must be/],
  [
    { emailOptions: { attachments: [{ ...file, content: b64(3_145_729) }] } },
    /exceeds maximum of 3145728 bytes/,
  ],
  [
    { emailOptions: { attachments: Array(4).fill({ ...file, content: b64(3_000_000) }) } },
    /exceeds maximum of 10485760 bytes/,
  ],
];

test.each(refusals.map(([wrong, text]) => ({ reason: String(text), wrong, text })))(
  'send refuses a message for its reason: $reason',
  async ({ wrong, text }) => {
    const id = await givenNotification(given);
    if (JSON.stringify(wrong).includes('Mars')) {
      given.world.skipReasons.set(ada, 'invalid timezone: Mars');
    }
    await expect(given.transactional.sendTransactional(sendOf(id, wrong))).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: expect.stringMatching(text),
    });
  },
);
