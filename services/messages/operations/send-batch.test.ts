import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { TemplateCategory } from '#gen/postrider/templates/v1/templates_pb.ts';
import { type EventBatch, eventsOf } from '#lib/events/outbox.ts';
import { query } from '#lib/postgres/query.ts';
import { defaultBehaviour } from '../../../test/sink-conversation.ts';
import { broadcastMessageId } from '../message.ts';
import { claim } from '../record/claims.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';
import { defaultContent } from '../test/given-peers.ts';

const given = useService();
resetAfterEach(given);

type Batch = ReturnType<typeof batchOf>;

const none = { sent: 0, failed: 0, skipped: 0, deferred: 0, notStarted: 0, unknown: 0, outage: '' };

function rows(batch: Batch, text = '') {
  return query<Record<string, unknown>>(
    given.store.fork(),
    `select * from messages where workspace_id = $1 and broadcast_id = $2 ${text} order by contact_email`,
    [batch.workspaceId, batch.broadcastId],
  );
}

const eventually = async (condition: () => boolean) => {
  while (!condition()) await new Promise((next) => setTimeout(next, 5));
};

test('sendBatch sends each message once and records it', async () => {
  given.world.fields.set('p1@example.com', { first_name: 'Zoë <3' });
  const batch = batchOf(people(200));
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 200 });
  expect(given.sink.total()).toBe(200);
  expect(given.sink.duplicates()).toEqual([]);
  const [row] = await rows(batch);
  expect(row).toMatchObject({
    contact_email: 'p0@example.com',
    status: 'sent',
    attempts: 1,
    unknown: 0,
    owner: null,
    list_id: 'weekly',
  });
  expect(row?.status_info).toMatch(/^250 2\.0\.0 taken/);
  const raw = given.sink.bodies().find((body) => body.includes('p1@example.com')) ?? '';
  const mail = await PostalMime.parse(Buffer.from(raw, 'latin1'));
  expect(mail.subject).toBe('Hello Zoë <3');
  expect(mail.html).toContain('Hi Zoë &lt;3');
  expect(mail.messageId).toBe(
    `<${broadcastMessageId('w1', batch.broadcastId, 'p1@example.com')}@sender.example>`,
  );
});

test('a broadcast to segments alone is mail to no list, which an unsubscribe link leaves', async () => {
  given.world.content = {
    ...defaultContent,
    html: '<p>{% if list %}list{% else %}none{% endif %}[{{ list.name }}]{{ unsubscribe_url }}[{{ confirm_subscription_url }}]</p>',
  };
  const batch = batchOf(people(1), { listId: '', listName: '' });
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 1 });
  const [row] = await rows(batch);
  expect(row?.list_id).toBeNull();
  const raw = given.sink.bodies().at(-1) ?? '';
  const { headers, html } = await PostalMime.parse(Buffer.from(raw, 'latin1'));
  expect(html).toMatch(/none\[\]https:\/\/mail\.example\/u\/w1\/[\w-]{43}\[\]/);
  const values = Object.fromEntries(headers.map(({ key, value }) => [key, value]));
  expect(values['list-unsubscribe']).toMatch(/^<https:\/\/mail\.example\/u\/w1\/[\w-]{43}>$/);
  expect(values['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click');
  expect(values['list-id']).toBe('<segments.w1.sender.example>');
  expect(values['feedback-id']).toContain('broadcast');
});

test('sendBatch answers from the record when it is asked again', async () => {
  const batch = batchOf(people(20));
  await given.sender.sendBatch({ ...batch, emails: people(10) });
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 20 });
  expect(given.sink.total()).toBe(20);
});

test('two concurrent calls of sendBatch send each message once', async () => {
  given.sink.behaviour.latencyMs = 20;
  const batch = batchOf(people(50));
  const other = given.newProcess();
  const answers = await Promise.all([given.sender.sendBatch(batch), other.sender.sendBatch(batch)]);
  expect(answers.map(({ sent, notStarted }) => sent + notStarted)).toEqual([50, 50]);
  expect(answers.reduce((sum, { sent }) => sum + sent, 0)).toBe(50);
  expect(given.sink.received.size).toBe(50);
  expect(given.sink.duplicates()).toEqual([]);
  other.context.admission.close();
});

test('a first call sends to nobody whose message is in the record, and to the others', async () => {
  const batch = batchOf(people(3));
  await given.sender.sendBatch({ ...batch, emails: people(2) });
  const asked = { ...batch, isFirstCall: true };
  expect(await given.sender.sendBatch(asked)).toMatchObject({ ...none, sent: 1, notStarted: 2 });
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 3 });
  expect(given.sink.total()).toBe(3);
  expect(given.sink.duplicates()).toEqual([]);
});

test('two processes that are both asked first send each message once', async () => {
  const { sender, context } = given.newProcess();
  const batch = { ...batchOf(people(200)), isFirstCall: true };
  const answers = await Promise.all([given.sender.sendBatch(batch), sender.sendBatch(batch)]);
  expect(answers.reduce((sum, { sent }) => sum + sent, 0)).toBe(200);
  expect(answers.reduce((sum, { notStarted }) => sum + notStarted, 0)).toBe(200);
  expect(given.sink.total()).toBe(200);
  expect(given.sink.duplicates()).toEqual([]);
  context.admission.close();
});

test('a first call records who is skipped, and why', async () => {
  const batch = batchOf(people(3, 'first'));
  given.world.skipReasons.set('first1@example.com', 'unsubscribed');
  await query(
    given.store.fork(),
    `insert into suppressions (workspace_id, email, reason, created_at)
     values ($1, 'first2@example.com', 'bounced', now())`,
    [batch.workspaceId],
  );
  const answer = await given.sender.sendBatch({ ...batch, isFirstCall: true });
  expect(answer).toMatchObject({ ...none, sent: 1, skipped: 2 });
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 1, skipped: 2 });
  expect(await rows(batch)).toMatchObject([
    { status: 'sent', attempts: 1 },
    { status: 'skipped', status_info: 'unsubscribed', attempts: 0 },
    { status: 'skipped', status_info: 'bounced', attempts: 0 },
  ]);
});

test('sendBatch skips recipients that must not get mail and says why', async () => {
  given.world.skipReasons.set('p1@example.com', 'unsubscribed').set('p2@example.com', 'bounced');
  const batch = batchOf(people(4));
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 2, skipped: 2 });
  expect(
    (await rows(batch)).map(({ status, status_info }) => [
      status,
      String(status_info).slice(0, 12),
    ]),
  ).toEqual([
    ['sent', '250 2.0.0 ta'],
    ['skipped', 'unsubscribed'],
    ['skipped', 'bounced'],
    ['sent', '250 2.0.0 ta'],
  ]);
});

test('the record keeps no address of a deleted contact', async () => {
  given.world.skipReasons.set('p0@example.com', 'removed').set('p1@example.com', 'unsubscribed');
  const batch = batchOf(people(2));
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, skipped: 2 });
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, skipped: 2 });
  const emails = (await rows(batch)).map(({ contact_email }) => contact_email);
  expect(emails.toSorted()).toEqual(['', 'p1@example.com']);
});

test('sendBatch includes unsubscribed members only where the template is not marketing', async () => {
  given.world.includeUnsubscribed.length = 0;
  await given.sender.sendBatch(batchOf(people(1), { includeUnsubscribed: true }));
  given.world.content = { ...defaultContent, category: TemplateCategory.TRANSACTIONAL };
  await given.sender.sendBatch(batchOf(people(1), { includeUnsubscribed: true }));
  await given.sender.sendBatch(batchOf(people(1)));
  expect(given.world.includeUnsubscribed).toEqual([false, true, false]);
});

test('a hard bounce fails the message, suppresses the address and notifies contacts', async () => {
  given.sink.behaviour.replies = [
    { step: 'rcpt', recipient: '^dead@', reply: '550 5.1.1 no such user' },
    { step: 'dot', recipient: '^spam@', reply: '554 5.7.1 content refused' },
  ];
  const emails = ['dead@example.com', 'fine@example.com', 'spam@example.com'];
  const batch = batchOf(emails);
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 1, failed: 2 });
  const [dead, , spam] = await rows(batch);
  expect(dead).toMatchObject({ status: 'failed', status_info: '550 5.1.1 no such user' });
  expect(dead?.bounced_at).not.toBeNull();
  expect(spam).toMatchObject({ status: 'failed', bounced_at: null });
  const jobs = await query<{ payload: EventBatch }>(
    given.store.fork(),
    'select payload from messages_jobs._private_jobs',
    [],
  );
  const delivered = jobs.flatMap(({ payload }) => eventsOf(payload));
  expect(delivered).toMatchObject([{ type: 'email.bounced' }]);
  expect(delivered.map(({ dataJson }) => JSON.parse(dataJson))).toMatchObject([
    { email: 'dead@example.com', list_id: 'weekly' },
  ]);
  given.sink.behaviour.replies = [];
  const next = batchOf(emails);
  expect(await given.sender.sendBatch(next)).toMatchObject({ ...none, sent: 2, skipped: 1 });
});

test('a soft failure is deferred by the schedule, and tried again when due', async () => {
  given.sink.behaviour.replies = [
    { step: 'rcpt', recipient: '^p1@', reply: '450 4.2.0 greylisted', times: 1 },
  ];
  const batch = batchOf(people(3));
  const before = Date.now();
  const answer = await given.sender.sendBatch(batch);
  expect(answer).toMatchObject({ ...none, sent: 2, deferred: 1 });
  const dueMs = Number(answer.nextDueAt?.seconds) * 1000;
  expect(dueMs - before).toBeGreaterThan(58_000);
  expect(dueMs - before).toBeLessThan(65_000);
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 2, deferred: 1 });
  await query(
    given.store.fork(),
    "update messages set due_at = now() where broadcast_id = $1 and status = 'deferred'",
    [batch.broadcastId],
  );
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 3 });
  expect((await rows(batch))[1]).toMatchObject({ status: 'sent', attempts: 2 });
});

test('a soft failure is given up after a day', async () => {
  given.sink.behaviour.replies = [{ step: 'rcpt', reply: '450 4.2.0 later' }];
  const batch = batchOf(people(1));
  await given.sender.sendBatch(batch);
  await query(
    given.store.fork(),
    "update messages set due_at = now(), created_at = now() - interval '24 hours' where broadcast_id = $1",
    [batch.broadcastId],
  );
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, failed: 1 });
});

test('a connection lost after the dot is tried again under the same Message-ID and counted', async () => {
  given.sink.behaviour.dropAfterDot = 1;
  const batch = batchOf(people(2));
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, deferred: 2, unknown: 2 });
  given.sink.behaviour.dropAfterDot = 0;
  await query(given.store.fork(), 'update messages set due_at = now() where broadcast_id = $1', [
    batch.broadcastId,
  ]);
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 2, unknown: 2 });
  const received = given.sink.received.get('p0@example.com');
  expect(received?.count).toBe(2);
  expect(new Set(received?.messageIds).size).toBe(1);
});

test('the messages of a dead process are sent when its lease is over, not before', async () => {
  const batch = batchOf(people(3));
  const { workspaceId, broadcastId } = batch;
  const group = {
    workspaceId,
    broadcastId,
    listId: 'weekly',
    templateId: 't',
    templateVersion: 1,
    integrationId: 'i',
    isByHand: false,
  };
  const claimants = people(3).map((email) => ({
    id: broadcastMessageId(workspaceId, broadcastId, email),
    email,
    skipReason: '',
  }));
  await claim(given.store, crypto.randomUUID(), group, { claimants, areNew: true });
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, notStarted: 3 });
  expect(given.sink.total()).toBe(0);
  await query(
    given.store.fork(),
    "update messages set lease_until = now() - interval '1 second' where broadcast_id = $1",
    [broadcastId],
  );
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 3, unknown: 3 });
});

test('an outage releases claimed messages and gives a reason without an address', async () => {
  given.sink.behaviour.greeting = '554 5.3.2 news@sender.example is blocked';
  const { sender, context } = given.newProcess();
  const batch = batchOf(people(5));
  const answer = await sender.sendBatch(batch);
  expect(answer).toMatchObject({
    ...none,
    notStarted: 5,
    outage: 'the connection was refused: 554 5.3.2 [address] is blocked',
  });
  expect(await rows(batch)).toEqual([]);
  given.sink.behaviour.greeting = defaultBehaviour.greeting;
  expect(await sender.sendBatch(batch)).toMatchObject({ ...none, sent: 5 });
  expect((await rows(batch))[0]).toMatchObject({ attempts: 1 });
  context.admission.close();
});

test('abort stops sending at once and releases messages that were not started', async () => {
  given.sink.behaviour.latencyMs = 50;
  const batch = batchOf(people(200));
  const abort = new AbortController();
  const call = given.sender.sendBatch(batch, { signal: abort.signal });
  await eventually(() => given.sink.total() >= 16);
  abort.abort();
  await expect(call).rejects.toMatchObject({ code: Code.Canceled });
  const atAbort = given.sink.total();
  given.sink.behaviour.latencyMs = 0;
  const lane = given.context.admission.lane({ workspaceId: 'w1', integrationId: 'smtp-1' });
  await eventually(() => lane.taken === 0);
  expect(given.sink.total() - atAbort).toBeLessThanOrEqual(100);
  while ((await rows(batch, "and status = 'sending'")).length > 0)
    await new Promise((next) => setTimeout(next, 10));
  expect((await rows(batch)).length).toBe(given.sink.total());
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 200 });
  expect(given.sink.duplicates()).toEqual([]);
});

test('sendBatch starts nothing within a second of its deadline', async () => {
  given.sink.behaviour.latencyMs = 30;
  // A rate that takes no more than the first connections.
  given.world.perMinute = 12_000;
  const batch = batchOf(people(200), { integrationId: crypto.randomUUID() });
  const answer = await given.sender.sendBatch(batch, { timeoutMs: 1_150 });
  expect(answer.notStarted).toBeGreaterThan(0);
  expect(answer.sent).toBe(given.sink.total());
  expect(answer.sent + answer.notStarted).toBe(200);
});

test('all processes together keep to the rate of the integration', async () => {
  given.world.perMinute = 1_200; // 20 a second
  const other = given.newProcess();
  const integrationId = crypto.randomUUID();
  const start = Date.now();
  const answers = await Promise.all([
    given.newProcess().sender.sendBatch(batchOf(people(25, 'a'), { integrationId })),
    other.sender.sendBatch(batchOf(people(25, 'b'), { integrationId })),
  ]);
  const seconds = (Date.now() - start) / 1000;
  expect(answers.map(({ sent }) => sent)).toEqual([25, 25]);
  // 20 at once, then 20 a second.
  expect(seconds).toBeGreaterThan(1.3);
  expect(seconds).toBeLessThan(4);
});

test('mail of a sender that its integration no longer has goes out from the default sender', async () => {
  given.world.content = { ...defaultContent, senderId: 's2' };
  await given.sender.sendBatch(batchOf(['kept@example.com']));
  given.world.content = { ...defaultContent, senderId: 'removed' };
  await given.sender.sendBatch(batchOf(['moved@example.com']));
  const [kept] = given.sink.bodies('kept@example.com');
  const [moved] = given.sink.bodies('moved@example.com');
  expect(kept).toContain('infos@sender.example');
  expect(moved).toContain('news@sender.example');
});

test('a message that cannot be rendered fails alone', async () => {
  given.world.content = {
    ...defaultContent,
    html: '<p>{% if contact.first_name == "bad" %}{{ contact.custom_json_1 | sum: "x" | date: "%100000000d" }}{% endif %}</p>',
  };
  given.world.fields.set('p1@example.com', { first_name: 'bad', custom_json_1: [{ x: 1 }] });
  const batch = batchOf(people(3));
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 2, failed: 1 });
  expect((await rows(batch))[1]?.status_info).toMatch(/^the message can not be rendered: /);
});

test('sendBatch counts render failures, also those on record, with a reason that holds no value', async () => {
  given.world.content = {
    ...defaultContent,
    html: '<p>{{ contact.created_at | date: "%H", contact.custom_string_1 }}</p>',
  };
  const zone = 'Secret/ada@example.org';
  for (const email of people(3)) {
    given.world.fields.set(email, { created_at: '2030-01-01', custom_string_1: zone });
  }
  given.world.skipReasons.set('p0@example.com', 'unsubscribed');
  given.sink.behaviour.replies = [
    { step: 'rcpt', recipient: '^p3@', reply: '554 5.7.1 the message can not be rendered: why' },
  ];
  const batch = batchOf(people(5));
  const counted = {
    ...{ ...none, sent: 1, failed: 3, skipped: 1 },
    ...{ unrendered: 2, unrenderedReason: 'Invalid time zone specified' },
  };
  expect(await given.sender.sendBatch(batch)).toMatchObject(counted);
  expect(await given.sender.sendBatch(batch)).toMatchObject(counted);
});

test('a template with loops goes through the thread', async () => {
  given.world.content = {
    ...defaultContent,
    html: '<p>{% for n in contact.custom_json_1.items %}[{{ n }}]{% endfor %}</p>',
  };
  given.world.fields.set('p0@example.com', { custom_json_1: { items: ['a', '<b>'] } });
  expect(await given.sender.sendBatch(batchOf(people(2)))).toMatchObject({ ...none, sent: 2 });
  expect(given.sink.bodies().join('')).toContain('[a][&lt;b&gt;]');
});

test('sendBatch refuses a plan whose template is broken', async () => {
  given.world.content = { ...defaultContent, html: '{% if x %}' };
  await expect(given.sender.sendBatch(batchOf(people(1)))).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});

test('sendBatch refuses more than 200 recipients', async () => {
  await expect(given.sender.sendBatch(batchOf(people(201)))).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});

test('sendBatch notes the From domain of a broadcast once, and listVariationStats gives it', async () => {
  const batch = batchOf(people(3));
  await given.sender.sendBatch({ ...batch, emails: people(2) });
  await given.sender.sendBatch(batch);
  const { workspaceId, broadcastId } = batch;
  const { stats } = await given.sender.listVariationStats({
    workspaceId,
    broadcastIds: [broadcastId],
  });
  expect(stats).toMatchObject([{ broadcastId, sent: 3, fromDomain: 'sender.example' }]);
});
