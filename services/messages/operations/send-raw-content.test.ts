import { Code } from '@connectrpc/connect';
import { beforeAll, expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { type BodyPlace, eraseOrphaned } from '../record/orphaned-bodies.ts';
import { eraseDone, tidyQueue } from '../record/queue.ts';
import { resetAfterEach, useService } from '../test/given.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';

const workspaceId = 'w1';
const given = useService();
resetAfterEach(given);
// On a busy machine a message may not be begun within its five seconds.
beforeAll(() => given.context.transactional.queue.start());

type Message = Parameters<typeof sendOf>[1];
type Content = NonNullable<NonNullable<Message>['content']>;

const subject = 'Order 1042';
const html = '<p class=a>Hi {{ name }} {% x %}</p>\n<a href=https://shop.example/1?a=1&b=2>see</a>';
const text = 'Hi {{ name }}\n.\nSee https://shop.example/1';
const ada = 'ada@example.com';

let count = 0;
/** A mail with content of its own, to an address of its own. */
function raw(content: Omit<Content, '$typeName' | '$unknown'>, over: Message = {}) {
  count += 1;
  const email = `raw-${count}@example.com`;
  return { email, request: sendOf('', { contact: { email }, ...over, content }) };
}
const send = (request: ReturnType<typeof sendOf>) => given.transactional.sendTransactional(request);

async function mailTo(email: string) {
  await until('the mail arrives', async () => given.sink.bodies(email).length > 0, {
    withinMs: 15_000,
  });
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
const bodiesOf = (id: string) =>
  query<{ body: Buffer; erase_at: unknown }>(
    given.store.fork(),
    'select body, erase_at from message_bodies where message_id = $1',
    [id],
  );
const change = (sql: string, id: string) => query(given.store.fork(), sql, [id]);
const afterAnHour = () => ({
  seconds: BigInt(Math.floor(Date.now() / 1_000) + 3_600),
  nanos: 0,
});

test('content goes out as it is given, without a notification and without a template', async () => {
  given.world.isTracked = true;
  const { email, request } = raw({
    ...{ subject: 'Order {{ n }} ✓', html, text, replyTo: 'help@shop.example' },
    from: { email: 'Infos@sender.example', name: 'Zoë, Shop' },
    headers: { 'X-Order': '1042' },
  });
  const { messageId, success } = await send(request);
  expect(success).toBe(true);
  const mail = await mailTo(email);
  expect(mail).toMatchObject({
    subject: 'Order {{ n }} ✓',
    from: { name: 'Zoë, Shop', address: 'infos@sender.example' },
    replyTo: [{ address: 'help@shop.example' }],
  });
  expect([mail.html?.trimEnd(), mail.text?.trimEnd()]).toEqual([html, text]);
  expect(mail.headers.find(({ key }) => key === 'x-order')?.value).toBe('1042');
  expect(mail.headers.find(({ key }) => key === 'feedback-id')?.value).toMatch(/^content:w1:/);
  await statusOf(messageId, 'sent');
  const { message } = await given.messages.getMessage({ workspaceId, id: messageId });
  expect(message).toMatchObject({
    ...{ templateId: '', templateVersion: 0 },
    rawContent: {
      ...{ subject: 'Order {{ n }} ✓', fromEmail: 'infos@sender.example', fromName: 'Zoë, Shop' },
      ...{ replyTo: 'help@shop.example', headers: { 'X-Order': '1042' }, useLiquid: false },
    },
  });
  expect(message?.transactionalNotificationId).toBeUndefined();
  expect(message?.channelOptions).toBeUndefined();
  const listed = await given.messages.listMessages({ workspaceId, contactEmail: email });
  expect(listed.messages[0]?.rawContent).toEqual(message?.rawContent);
});

test('the kept content of a mail is what was given', async () => {
  given.world.contentDays = 30;
  const fresh = given.newProcess();
  const { email, request } = raw({ subject, html, text });
  const { messageId: id } = await fresh.transactional.sendTransactional(request);
  await mailTo(email);
  const kept = () => fresh.messages.getMessage({ workspaceId, id });
  await until('it is kept', async () => (await kept()).content !== undefined);
  const { content } = await kept();
  expect([content?.html.trimEnd(), content?.text.trimEnd()]).toEqual([html, text]);
  await fresh.context.transactional.stop();
});

test('text without HTML is plain text alone, also beside files, and HTML without text gets one', async () => {
  const plain = raw({ subject, text });
  await send(plain.request);
  const mail = await mailTo(plain.email);
  expect([mail.html, mail.text?.trimEnd()]).toEqual([undefined, text]);
  expect(given.sink.bodies(plain.email)[0]).not.toContain('multipart');
  const content = Buffer.from('BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n').toString('base64');
  const invite = { filename: 'i.ics', content, contentType: 'text/calendar; method=REQUEST' };
  const invited = raw({ subject, text, attachments: [invite] });
  await send(invited.request);
  const invitation = await mailTo(invited.email);
  expect([invitation.html, invitation.text?.trimEnd()]).toEqual([undefined, text]);
  expect(invitation.attachments).toMatchObject([
    { filename: 'i.ics', mimeType: 'text/calendar', method: 'REQUEST' },
  ]);
  const only = raw({ subject, html });
  await send(only.request);
  const made = await mailTo(only.email);
  expect(made.html?.trimEnd()).toBe(html);
  expect(made.text).toContain('Hi {{ name }} {% x %}');
  expect(made.text).toContain('see (https://shop.example/1?a=1&b=2)');
});

test('inline pictures are found by their content ids', async () => {
  const content = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');
  const logo = { filename: 'l.png', content, disposition: 'inline', contentId: 'logo' };
  const { email, request } = raw({ subject, html: '<img src="cid:logo">', attachments: [logo] });
  await send(request);
  const mail = await mailTo(email);
  expect(mail.html).toContain('<img src="cid:logo">');
  expect(mail.attachments).toMatchObject([{ contentId: '<logo>', mimeType: 'image/png' }]);
});

test('with use_liquid subject, HTML and text get the values of the call and of the contact', async () => {
  const liquid = {
    ...{ subject: 'Order {{ order }}', useLiquid: true },
    html: '<p>Hi {{ contact.first_name }}, {{ order }}: {% for l in lines %}{{ l }};{% endfor %}</p>',
  };
  const own = { ...liquid, text: '{{ contact.first_name }} {{ order }} {{ mail_subject }}' };
  const data = { order: '<7>', lines: ['a', 'b'] };
  const { email, request } = raw(own, { data });
  given.world.fields.set(email, { first_name: 'Ada' });
  await send(request);
  const mail = await mailTo(email);
  expect(mail.subject).toBe('Order <7>');
  expect(mail.html).toContain('<p>Hi Ada, &lt;7&gt;: a;b;</p>');
  expect(mail.text?.trimEnd()).toBe('Ada <7> Order <7>');
  const derived = raw(liquid, { data, sendAt: afterAnHour() });
  given.world.fields.set(derived.email, { first_name: 'Bob' });
  const { messageId } = await send(derived.request);
  await change('update messages set due_at = now() where id = $1', messageId);
  await change('update message_requests set due_at = now() where message_id = $1', messageId);
  expect((await mailTo(derived.email)).text).toContain('Hi Bob, <7>: a;b;');
});

test('links are counted, and the pixel is there, if the mail asks for it', async () => {
  given.world.isTracked = true;
  const sets = () =>
    query<{ urls: string[] }>(given.store.fork(), 'select urls from link_sets', []);
  const fresh = given.newProcess();
  for (const path of ['one', 'two', 'three']) {
    const link = `https://shop.example/${path}`;
    const content = { subject, html: `<a href="${link}">x</a> {{ y }}`, enableTracking: true };
    const { email, request } = raw(content);
    await fresh.transactional.sendTransactional(request);
    const mail = await mailTo(email);
    expect(mail.html).toMatch(/href="https:\/\/mail\.example\/r\/w1\/[\w-]+\/0\/[\w-]+"/);
    expect(mail.html).toMatch(/\{\{ y \}\}<img src="https:\/\/mail\.example\/t\/w1\//);
    expect(mail.text).toContain('x (');
  }
  // A set of links is kept for good.
  expect((await sets()).filter(({ urls }) => urls.join().includes('shop.example'))).toEqual([]);
  await fresh.context.transactional.stop();
});

test('the settings of a notification hold, and its template is replaced', async () => {
  const id = await givenNotification(given, {
    sendToBounced: true,
    tracking: { enable_tracking: false, utm_source: 'shop' },
  });
  const email = `dead-${id}@example.com`;
  await query(given.store.fork(), `insert into suppressions values ('w1', $1, 'bounced', now())`, [
    email,
  ]);
  const link = '<a href="https://shop.example/1">see</a>';
  const content = { subject, html: link, text };
  const { messageId, suppressed } = await send(sendOf(id, { contact: { email }, content }));
  expect(suppressed).toMatchObject([{ isSent: true }]);
  expect((await mailTo(email)).html).toContain('https://shop.example/1?utm_source=shop');
  const { message } = await given.messages.getMessage({ workspaceId, id: messageId });
  expect(message).toMatchObject({ transactionalNotificationId: id, templateId: '' });
  await expect(send(sendOf('nothing', { content }))).rejects.toMatchObject({
    code: Code.NotFound,
    rawMessage: 'Notification not found',
  });
});

test('a repeat by external id or key is one message, and an address that bounced gets nothing', async () => {
  const externalId = crypto.randomUUID();
  const first = raw({ subject, text }, { externalId });
  const answer = await send(first.request);
  expect(await send(first.request)).toEqual(answer);
  const keyed = raw({ subject, text });
  const headers = { 'idempotency-key': crypto.randomUUID() };
  const one = await given.transactional.sendTransactional(keyed.request, { headers });
  expect(await given.transactional.sendTransactional(keyed.request, { headers })).toEqual(one);
  const other = {
    ...keyed.request,
    notification: raw({ subject: 'x', text }).request.notification,
  };
  await expect(given.transactional.sendTransactional(other, { headers })).rejects.toMatchObject({
    code: Code.AlreadyExists,
  });
  const dead = raw({ subject, text });
  await query(given.store.fork(), `insert into suppressions values ('w1', $1, 'bounced', now())`, [
    dead.email,
  ]);
  const refused = await send(dead.request);
  expect(refused).toMatchObject({ success: false, suppressed: [{ reason: 'bounced' }] });
  expect(await bodiesOf(refused.messageId)).toEqual([]);
});

test('content is sealed, kept for a day after the message is done, and then gone', async () => {
  const secret = `secret-${crypto.randomUUID()}`;
  const { email, request } = raw({ subject: secret, html: `<p>${secret}</p>`, text: secret });
  const { messageId } = await send(request);
  await mailTo(email);
  await statusOf(messageId, 'sent');
  const [stored] = await bodiesOf(messageId);
  expect(stored?.body.includes(secret)).toBe(false);
  await change('update message_requests set due_at = now() where message_id = $1', messageId);
  await tidyQueue(given.store, workspaceId, 1_000);
  expect((await bodiesOf(messageId))[0]?.erase_at).not.toBeNull();
  await change('update message_bodies set erase_at = now() where message_id = $1', messageId);
  while (await eraseDone(given.store));
  expect(await bodiesOf(messageId)).toEqual([]);
});

test('content whose request a process of release 0.2 deleted is erased, and no other', async () => {
  const sendLater = async () =>
    (await send(raw({ subject, text }, { sendAt: afterAnHour() }).request)).messageId;
  const [kept, orphaned, other] = [await sendLater(), await sendLater(), await sendLater()];
  for (const id of [orphaned, other]) {
    await change('delete from message_requests where message_id = $1', id);
  }
  let after: BodyPlace | undefined;
  do after = await eraseOrphaned(given.store, { after, most: 1 });
  while (after);
  expect(await bodiesOf(orphaned)).toEqual([]);
  expect(await bodiesOf(other)).toEqual([]);
  expect(await bodiesOf(kept)).toHaveLength(1);
});

test('a scheduled mail waits with its content, is cancelled with it, and a failed one is sent again with it', async () => {
  const later = raw({ subject, text }, { sendAt: afterAnHour() });
  const { messageId } = await send(later.request);
  expect(await bodiesOf(messageId)).toHaveLength(1);
  await given.transactional.cancelTransactional({ workspaceId, messageId });
  expect(await bodiesOf(messageId)).toEqual([]);
  const failing = raw({ subject, html, text });
  given.sink.behaviour.replies = [{ step: 'rcpt', recipient: '^raw', reply: '554 5.6.0 no' }];
  const { messageId: id } = await send(failing.request);
  await statusOf(id, 'failed');
  given.sink.behaviour.replies = [];
  await given.messages.retryMessage({ workspaceId, id });
  expect((await mailTo(failing.email)).html?.trimEnd()).toBe(html);
  const gone = raw({ subject, text });
  given.sink.behaviour.replies = [{ step: 'rcpt', recipient: '^raw', reply: '554 5.6.0 no' }];
  const lost = await send(gone.request);
  await statusOf(lost.messageId, 'failed');
  await change('delete from message_bodies where message_id = $1', lost.messageId);
  await expect(
    given.messages.retryMessage({ workspaceId, id: lost.messageId }),
  ).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: 'the content of the message is gone',
  });
});

test('a sender that is gone when a mail is due fails it, and no other address is used', async () => {
  given.world.senders = [{ id: 's3', email: 'left@sender.example', name: 'Left' }];
  given.context.plans.refresh(workspaceId);
  const from = { email: 'left@sender.example' };
  const { email, request } = raw({ subject, text, from }, { sendAt: afterAnHour() });
  const { messageId } = await send(request);
  given.world.senders = [];
  given.context.plans.refresh(workspaceId);
  await change('update messages set due_at = now() where id = $1', messageId);
  await change('update message_requests set due_at = now() where message_id = $1', messageId);
  await statusOf(messageId, 'failed');
  expect((await rowOf(messageId))?.status_info).toBe(
    'the mail cannot be sent: the integration has no such sender any more',
  );
  expect(given.sink.bodies(email)).toEqual([]);
});

test('a deletion of the contact erases the content of a mail that waits', async () => {
  const { email, request } = raw({ subject, text }, { sendAt: afterAnHour() });
  const { messageId } = await send(request);
  const occurredAt = { seconds: BigInt(Math.floor(Date.now() / 1_000) + 60), nanos: 0 };
  const dataJson = JSON.stringify({ contact: { email } });
  const events = [{ type: 'contact.deleted', occurredAt, dataJson }];
  await given.events.consumeEvents({ workspaceId, batchId: crypto.randomUUID(), events });
  expect(await bodiesOf(messageId)).toEqual([]);
  expect(await rowOf(messageId)).toMatchObject({ status: 'skipped', contact_email: '' });
});

test('plans of mails with content of their own are as many as their senders', async () => {
  const { plans } = given.context;
  const seen = new Set<unknown>();
  for (const from of ['news@sender.example', 'infos@sender.example', 'news@sender.example']) {
    const content = { subject: from, text: crypto.randomUUID(), from: { email: from, name: from } };
    await send(raw(content).request);
  }
  for (const senderEmail of ['news@sender.example', 'infos@sender.example']) {
    const { planKeyOf } = await import('../transactional/plan.ts');
    const ids = { workspaceId, notificationId: '', templateId: '', templateVersion: 0 };
    const key = { ...ids, integrationId: 'smtp-1', utm: {}, isTracked: false, senderEmail };
    const plan = await plans.get(planKeyOf(key));
    seen.add(plan.variantFor({}).program);
  }
  expect(seen.size).toBe(2);
});

test('a batch answers each row, with content or without', async () => {
  const id = await givenNotification(given);
  const good = raw({ subject, text });
  const rows = [
    good.request.notification,
    raw({ subject: '', text }).request.notification,
    raw({ subject, html: '{% if %}', useLiquid: true }).request.notification,
    raw({ subject, text, from: { email: 'x@other.example' } }).request.notification,
    sendOf(id, { contact: { email: `with-${good.email}` } }).notification,
  ];
  const { results } = await given.transactional.sendTransactionalBatch({
    workspaceId,
    notifications: rows,
  });
  expect(results.map(({ success, error }) => [success, error])).toEqual([
    [true, undefined],
    [false, 'content.subject is required'],
    [false, expect.stringMatching(/^content.html is not valid Liquid: /)],
    [false, 'content.from.email must be the address of a sender of the integration'],
    [true, undefined],
  ]);
  await mailTo(good.email);
  await mailTo(`with-${good.email}`);
});

const big = 'x'.repeat(1024 * 1024 + 1);
const beside = (emailOptions: object) => ({ emailOptions });
const refusals: [content: object, over: object, text: string | RegExp][] = [
  [{ subject: '' }, {}, 'content.subject is required'],
  [{ subject: 'a\nBcc: b@c.example' }, {}, /content.subject must not contain line breaks/],
  [{ subject: 'x'.repeat(256) }, {}, 'content.subject length must not exceed 255 characters'],
  [{ text: '' }, {}, 'content needs html or text'],
  [{ text: big }, {}, 'content.text must be at most 1 MiB'],
  [{ html: big }, {}, 'content.html must be at most 1 MiB'],
  [{ html: 'a\0b' }, {}, 'content.html must not contain NUL characters'],
  [{ text: '', html: '<b>'.repeat(10_001) }, {}, /content.html has more than 10000 tags/],
  [{ from: { email: 'no' } }, {}, 'content.from.email must be one email address'],
  [{ from: { email: 'x@other.example' } }, {}, /content.from.email must be the address of a sen/],
  [{ from: { email: ada, name: 'a\r\nb' } }, {}, /content.from.name must not contain line breaks/],
  [{ replyTo: 'x' }, {}, "replyTo 'x' must be a valid email address"],
  [{ headers: { Bcc: 'a@b.example' } }, {}, "header 'Bcc' is not allowed"],
  [{ attachments: [{ filename: 'a.exe', content: 'YQ==' }] }, {}, /extension .exe is not/],
  [{ integrationId: 'deleted' }, {}, 'integration not found'],
  [{ integrationId: 'x'.repeat(65) }, {}, 'integration not found'],
  [{ useLiquid: true, subject: '{{ a' }, {}, /^content.subject is not valid Liquid: /],
  [{ useLiquid: true, text: '{{ a | nope }}' }, {}, /^content.text is not valid Liquid: /],
  [{ useLiquid: true, html: '{{ a }}'.repeat(10_001) }, {}, /^content has more than 10000 outputs/],
  [{}, { data: { a: 1 } }, 'data needs content.use_liquid'],
  [{}, beside({ subject: 'x' }), 'email_options.subject must not be given beside content'],
  [{}, beside({ fromName: 'x' }), 'email_options.from_name must not be given beside content'],
  [{}, beside({ replyTo: ada }), 'email_options.reply_to must not be given beside content'],
  [{}, beside({ headers: { 'X-A': 'b' } }), /email_options.headers must not be given/],
  [{}, beside({ subjectPreview: 'x' }), /email_options.subject_preview must not be given/],
  [{}, beside({ attachments: [{ filename: 'a' }] }), /email_options.attachments must not be/],
];

test.each(refusals.map(([content, over, text]) => ({ reason: String(text), content, over, text })))(
  'send refuses content for its reason: $reason',
  async ({ content, over, text: wanted }) => {
    const { request } = raw({ subject, text, ...content }, over);
    await expect(send(request)).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: expect.stringMatching(wanted),
    });
  },
);

test('mail goes through the integration that has its sender, by the rate of that one', async () => {
  given.world.otherSenders.set('shop@other.example', 'smtp-2');
  const here = raw({ subject, text });
  const there = raw({ subject, text, from: { email: 'shop@other.example' } });
  const notifications = [here.request.notification, there.request.notification];
  const { results } = await given.transactional.sendTransactionalBatch({
    workspaceId,
    notifications,
  });
  expect((await mailTo(there.email)).from?.address).toBe('shop@other.example');
  const ids = results.map(({ messageId = '' }) => messageId);
  expect(await Promise.all(ids.map(async (id) => (await rowOf(id))?.integration_id))).toEqual([
    'smtp-1',
    'smtp-2',
  ]);
  const rates = await query<{ integration_id: string }>(
    given.store.fork(),
    'select integration_id from sending_rates order by integration_id',
    [],
  );
  expect(rates.map((row) => row.integration_id)).toEqual(['smtp-1', 'smtp-2']);
  // One that is named sends by its own senders alone.
  const named = raw({
    ...{ subject, text, integrationId: 'smtp-1' },
    from: { email: 'shop@other.example' },
  });
  await expect(send(named.request)).rejects.toMatchObject({ code: Code.InvalidArgument });
});

test.each([
  ['which the integration of the settings does not have', 'shop@other.example', 'smtp-3'],
  ['which the integration of the settings has', 'news@sender.example', 'smtp-1'],
])(
  'a mail whose integration is gone goes on through one that has its sender, %s',
  async (...row) => {
    const [, sender, integrationId] = row;
    given.world.otherSenders.set('shop@other.example', 'smtp-2');
    given.context.plans.refresh(workspaceId);
    const { email, request } = raw(
      { subject, text, from: { email: sender } },
      { sendAt: afterAnHour() },
    );
    const { messageId } = await send(request);
    given.world.otherSenders.set('shop@other.example', 'smtp-3');
    await change(
      "update messages set due_at = now(), integration_id = 'deleted' where id = $1",
      messageId,
    );
    await change('update message_requests set due_at = now() where message_id = $1', messageId);
    await statusOf(messageId, 'sent');
    expect((await mailTo(email)).from?.address).toBe(sender);
    expect((await rowOf(messageId))?.integration_id).toBe(integrationId);
  },
);

test('a mail that is retried goes through the integration of its sender again', async () => {
  given.world.otherSenders.set('shop@other.example', 'smtp-2');
  const { email, request } = raw({ subject, text, from: { email: 'shop@other.example' } });
  given.sink.behaviour.replies = [{ step: 'rcpt', recipient: '^raw', reply: '554 5.6.0 no' }];
  const { messageId: id } = await send(request);
  await statusOf(id, 'failed');
  given.sink.behaviour.replies = [];
  const answer = await given.messages.retryMessage({ workspaceId, id });
  expect(answer.integrationId).toBe('smtp-2');
  expect((await mailTo(email)).from?.address).toBe('shop@other.example');
});

test('copies and the unsubscribe address beside content are as beside a template', async () => {
  const emailOptions = { cc: ['boss@example.com'], listUnsubscribeUrl: 'https://a.example/l' };
  const { email, request } = raw({ subject, text }, { emailOptions });
  await send(request);
  const mail = await mailTo(email);
  expect(mail.cc).toMatchObject([{ address: 'boss@example.com' }]);
  expect(mail.headers.find(({ key }) => key === 'list-unsubscribe')?.value).toBe(
    '<https://a.example/l>',
  );
});
