import { create } from '@bufbuild/protobuf';
import { timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { WarmUpSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { createLog } from '#lib/log.ts';
import { createNames } from '#lib/outside/names/resolver.ts';
import { query } from '#lib/postgres/query.ts';
import { type DnsServer, startDnsServer, type Zone } from '../../../test/dns-server.ts';
import { until } from '../../../test/stack/until.ts';
import { Pacing } from '../receivers/pacing.ts';
import { paceTimes } from '../receivers/rate.ts';
import type { ReceiverLimits } from '../receivers/table.ts';
import { batchOf, type Given, resetAfterEach, useService } from '../test/given.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';

const given = useService();
resetAfterEach(given);

let dns: DnsServer;
const zones = new Map<string, Zone>();
const names: ReturnType<typeof createNames>[] = [];
const processes: ReturnType<Given['newProcess']>[] = [];
beforeAll(async () => {
  dns = await startDnsServer((name) => zones.get(name) ?? 'absent');
});
afterEach(async () => {
  zones.clear();
  dns.asked.length = 0;
  for (const { context } of processes.splice(0)) {
    context.admission.close();
    await context.pacing.close();
  }
  for (const each of names.splice(0)) each.close();
});
afterAll(() => dns.close());

/** A process whose integrations deliver directly, at given rates by group. */
function newReplica(
  rates: Record<string, ReceiverLimits> = {},
  times = paceTimes,
  now?: () => Date,
) {
  given.world.isDirect = true;
  const own = createNames({ servers: [dns.address] });
  names.push(own);
  const { store } = given;
  const pacing = new Pacing({
    ...{ store, times, log: createLog('messages', 'silent') },
    lookUp: (domain, workspaceId) => own.mailHosts(domain, workspaceId),
    rates: new Map(Object.entries(rates)),
  });
  const replica = given.newProcess({ pacing, ...(now && { now }) });
  processes.push(replica);
  return replica;
}

const at = (domain: string, size: number, prefix = 'p') =>
  Array.from({ length: size }, (_, index) => `${prefix}${index}@${domain}`);

const gmail = { mx: ['gmail-smtp-in.l.google.com', 'alt1.gmail-smtp-in.l.google.com'] };

const batch = (emails: string[]) => batchOf(emails, { integrationId: crypto.randomUUID() });

function rows(asked: ReturnType<typeof batch>) {
  return query<Record<string, unknown>>(
    given.store.fork(),
    'select * from messages where workspace_id = $1 and broadcast_id = $2 order by contact_email',
    [asked.workspaceId, asked.broadcastId],
  );
}

/** As if the time had passed: of all that waits, and of rates. */
async function pass(asked: ReturnType<typeof batch>, seconds: number): Promise<void> {
  const { integrationId } = asked.plan;
  const em = given.store.fork();
  const gone = `$2::float8 * interval '1 second'`;
  await query(em, `update messages set due_at = due_at - ${gone} where integration_id = $1`, [
    integrationId,
    seconds,
  ]);
  await query(
    em,
    `update receiver_rates set updated_at = updated_at - ${gone}, queue_until = queue_until - ${gone},
       slowed_at = slowed_at - ${gone}, eases_at = eases_at - ${gone} where integration_id = $1`,
    [integrationId, seconds],
  );
}

test('a group beyond its rate waits in turns, and the others are sent to at once', async () => {
  zones.set('gmail.com', gmail);
  zones.set('firm.example', { mx: ['mx.firm.example'] });
  const { sender, messages, progress } = newReplica({ google: { perSecond: 1, atOnce: 5 } });
  const asked = batch([...at('gmail.com', 100), ...at('firm.example', 5)]);
  const answer = await sender.sendBatch(asked);
  // Ten seconds' worth, of which a tenth is for urgent mail.
  expect(answer).toMatchObject({ sent: 9 + 5, deferred: 91, notStarted: 0, outage: '' });
  const waiting = (await rows(asked)).filter(({ status }) => status === 'deferred');
  expect(waiting).toHaveLength(91);
  for (const row of waiting) {
    expect(row).toMatchObject({
      attempts: 0,
      owner: null,
      status_info: 'waits for the rate of google',
    });
  }
  const { workspaceId, broadcastId } = asked;
  const [row] = waiting;
  const { message } = await messages.getMessage({ workspaceId, id: `${row?.id}` });
  expect(message).toMatchObject({ status: 'queued', statusInfo: 'waits for the rate of google' });
  const why = await messages.explainMessages({
    workspaceId,
    broadcastId,
    email: `${row?.contact_email}`,
  });
  expect(why.summary).toContain('not tried yet. (waits for the rate of google)');
  const stretch = { since: timestampFromMs(0), until: timestampFromMs(Date.now() + 60_000) };
  const timeline = await progress.getBroadcastTimeline({ workspaceId, broadcastId, ...stretch });
  expect(timeline.waiting).toMatchObject([{ receiver: 'google', count: 91 }]);
  const dues = waiting.map((row) => new Date(`${row.due_at}`).getTime()).toSorted((a, b) => a - b);
  expect((dues.at(-1) ?? 0) - (dues[0] ?? 0)).toBeGreaterThan(70_000);
  expect((dues.at(-1) ?? 0) - Date.now()).toBeLessThan(120_000);
  const first = answer.nextDueAt && timestampDate(answer.nextDueAt).getTime();
  expect(first).toBe(dues[0]);
});

test('a paused group waits while others go on, and all of its mail arrives once when it is resumed', async () => {
  zones.set('gmail.com', gmail);
  zones.set('firm.example', { mx: ['mx.firm.example'] });
  const { sender, progress, receivers } = newReplica();
  const asked = batch([...at('gmail.com', 20), ...at('firm.example', 5)]);
  const { workspaceId, broadcastId } = asked;
  const place = { workspaceId, integrationId: asked.plan.integrationId, receiver: 'google' };
  await receivers.pauseReceiver({ ...place, forSeconds: 24 * 3_600 });
  const answer = await sender.sendBatch(asked);
  expect(answer).toMatchObject({ sent: 5, deferred: 20, notStarted: 0, outage: '' });
  const waiting = (await rows(asked)).filter(({ status }) => status === 'deferred');
  expect(waiting).toHaveLength(20);
  for (const { attempts, status_info, due_at } of waiting) {
    expect(attempts).toBe(0);
    expect(status_info).toMatch(
      /^waits for the rate of google, which is paused until \d{4}-\d\d-\d\dT\d\d:\d\dZ$/,
    );
    // Resumed mail is looked at within the hour.
    const inMs = new Date(`${due_at}`).getTime() - Date.now();
    expect(inMs).toBeGreaterThan(25 * 60_000);
    expect(inMs).toBeLessThan(61 * 60_000);
  }
  const stretch = { since: timestampFromMs(0), until: timestampFromMs(Date.now() + 60_000) };
  const timeline = await progress.getBroadcastTimeline({ workspaceId, broadcastId, ...stretch });
  expect(timeline.waiting).toMatchObject([{ receiver: 'google', count: 20 }]);
  await pass(asked, 3_700);
  expect(await sender.sendBatch(asked)).toMatchObject({ sent: 5, deferred: 20 });
  await receivers.resumeReceiver(place);
  // Another process knows at once; this one within two seconds.
  const { sender: other } = newReplica();
  await pass(asked, 3_700);
  expect(await other.sendBatch(asked)).toMatchObject({ sent: 25, deferred: 0 });
  expect(given.sink.total()).toBe(25);
  expect(given.sink.duplicates()).toEqual([]);
});

test('mail of a paused group comes back at the end of the pause, and goes out', async () => {
  zones.set('gmail.com', gmail);
  const { sender, receivers } = newReplica();
  const asked = batch(at('gmail.com', 3));
  const { workspaceId } = asked;
  const place = { workspaceId, integrationId: asked.plan.integrationId, receiver: 'google' };
  const { paused } = await receivers.pauseReceiver({ ...place, forSeconds: 60 });
  const { nextDueAt } = await sender.sendBatch(asked);
  expect(nextDueAt).toEqual(paused?.until);
  await query(
    given.store.fork(),
    "update receiver_pauses set ends_at = ends_at - interval '1 minute' where workspace_id = $1",
    [workspaceId],
  );
  await pass(asked, 61);
  expect(await newReplica().sender.sendBatch(asked)).toMatchObject({ sent: 3, deferred: 0 });
});

test('mail of a paused group goes out at the end of the pause, though the process has read the pause before', async () => {
  zones.set('gmail.com', gmail);
  let clock = new Date();
  const { sender, receivers } = newReplica({}, paceTimes, () => clock);
  const asked = batch(at('gmail.com', 3));
  const { workspaceId } = asked;
  const place = { workspaceId, integrationId: asked.plan.integrationId, receiver: 'google' };
  const { paused } = await receivers.pauseReceiver({ ...place, forSeconds: 60 });
  if (!paused?.until) throw new Error('the pause has no end');
  expect(await sender.sendBatch(asked)).toMatchObject({ sent: 0, deferred: 3 });
  clock = timestampDate(paused.until);
  await pass(asked, 61);
  expect(await sender.sendBatch(asked)).toMatchObject({ sent: 3, deferred: 0 });
});

test('all mail of a paced group arrives once', async () => {
  zones.set('gmail.com', gmail);
  const { sender } = newReplica({ google: { perSecond: 1, atOnce: 5 } });
  const asked = batch(at('gmail.com', 60));
  let sent = 0;
  for (let round = 0; round < 30 && sent < 60; round += 1) {
    const answer = await sender.sendBatch(asked);
    expect(answer.sent - sent).toBeLessThanOrEqual(10);
    sent = answer.sent;
    await pass(asked, 10);
  }
  expect(sent).toBe(60);
  expect(given.sink.total()).toBe(60);
  expect(given.sink.duplicates()).toEqual([]);
});

test('an integration that is not direct asks nothing of DNS, and is not paced', async () => {
  zones.set('gmail.com', gmail);
  const { sender } = newReplica({ google: { perSecond: 1, atOnce: 5 } });
  given.world.isDirect = false;
  expect(await sender.sendBatch(batch(at('gmail.com', 100)))).toMatchObject({ sent: 100 });
  expect(dns.asked).toEqual([]);
});

test('a receiver that asks for less mail gets a tenth, then more by steps, and all of its mail in the end', async () => {
  zones.set('gmail.com', gmail);
  zones.set('firm.example', { mx: ['mx.firm.example'] });
  const limits = { perSecond: 10, atOnce: 100 };
  const { sender, context } = newReplica({ google: limits, 'firm.example': limits });
  const asked = batch([...at('gmail.com', 60), ...at('firm.example', 60)]);
  given.sink.behaviour.replies = [
    {
      ...{ step: 'rcpt', recipient: 'p[0-4]@gmail.com' },
      reply: '421 4.7.28 our system has detected an unusual rate of mail from your address',
    },
  ];
  const answer = await sender.sendBatch(asked);
  expect(answer.sent).toBe(55 + 60);
  await until('the rate is lower', async () => (await rateOf(asked))?.slowed_to === 0.1);
  given.sink.behaviour.replies = [];
  await pass(asked, 60);
  const more = { ...batch([...at('gmail.com', 90, 'q'), ...at('firm.example', 90, 'q')]) };
  more.plan.integrationId = asked.plan.integrationId;
  // A tenth of ten a second, for the ten seconds that gather, and a tenth of it for urgent mail.
  const slow = await sender.sendBatch(more);
  expect(slow.sent + slow.deferred).toBe(180);
  expect(slow.sent).toBeGreaterThan(90);
  expect(slow.sent).toBeLessThanOrEqual(90 + 9);
  const [waiting] = (await rows(more)).filter(({ status }) => status === 'deferred');
  expect(waiting?.status_info).toBe('waits for the rate of google, which has asked for less mail');
  let before = slow.sent - 90;
  for (const [minutes, share] of [
    [29, 0.2],
    [10, 0.4],
    [10, 0.8],
    [10, 1],
  ] as const) {
    await pass(asked, minutes * 60);
    const left = { ...batch(at('gmail.com', 100, `m${minutes}${share}x`)) };
    left.plan.integrationId = asked.plan.integrationId;
    const askedAtMs = performance.now();
    const { sent } = await sender.sendBatch(left);
    const seconds = (performance.now() - askedAtMs) / 1_000;
    const gathered = Math.floor(90 * share);
    expect(sent).toBeGreaterThan(before);
    // Permits that came back count as well; the next step is twice as much.
    expect(sent).toBeLessThan(1.5 * gathered + 10 * share * seconds);
    before = Math.min(sent, gathered);
  }
  for (const each of [asked, more]) {
    await until('all are sent', async () => {
      const { sent } = await sender.sendBatch(each);
      await pass(asked, 10);
      return sent === each.emails.length;
    });
  }
  expect(given.sink.duplicates()).toEqual([]);
  await context.pacing.close();
});

async function rateOf(asked: ReturnType<typeof batch>) {
  const [row] = await query<{ slowed_to: number | null; tokens: number }>(
    given.store.fork(),
    "select slowed_to, tokens from receiver_rates where integration_id = $1 and receiver = 'google'",
    [asked.plan.integrationId],
  );
  return row;
}

test('replicas share the rate of a group', async () => {
  zones.set('gmail.com', gmail);
  const google = { perSecond: 2, atOnce: 5 };
  const replicas = [newReplica({ google }), newReplica({ google }), newReplica({ google })];
  const asked = batch([]);
  const answers = await Promise.all(
    replicas.map(({ sender }, place) => {
      const own = { ...batch(at('gmail.com', 40, `r${place}x`)), plan: asked.plan };
      return sender.sendBatch(own);
    }),
  );
  const sent = answers.reduce((sum, each) => sum + each.sent, 0);
  expect(sent).toBeGreaterThanOrEqual(18);
  // As many as may gather, and those of the seconds that the calls took.
  expect(sent).toBeLessThan(25);
});

test('while a group warms up it gets half of the day, and the others go on', async () => {
  zones.set('gmail.com', gmail);
  zones.set('firm.example', { mx: ['mx.firm.example'] });
  given.world.warmUp = { startedOn: new Date().toISOString().slice(0, 10), dailyLimits: [20] };
  const { sender } = newReplica();
  const asked = batch([...at('gmail.com', 30), ...at('firm.example', 5)]);
  expect(await sender.sendBatch(asked)).toMatchObject({ sent: 15, deferred: 20, outage: '' });
  const waiting = (await rows(asked)).filter(({ status }) => status === 'deferred');
  const midnight = new Date(new Date().toISOString().slice(0, 10)).getTime() + 86_400_000;
  for (const row of waiting) {
    expect(row.status_info).toBe('warm-up limit of 10 messages a day to google reached');
    expect(new Date(`${row.due_at}`).getTime()).toBeGreaterThanOrEqual(midnight);
  }
});

test('while DNS does not answer, mail counts for its own domain and goes out', async () => {
  zones.set('gmail.com', 'silent');
  zones.set('firm.example', 'broken');
  zones.set('shop.example', 'silent');
  const { sender } = newReplica({ google: { perSecond: 1, atOnce: 5 } });
  const asked = batch(['gmail.com', 'firm.example', 'shop.example'].flatMap((each) => at(each, 4)));
  const beganAtMs = performance.now();
  expect(await sender.sendBatch(asked)).toMatchObject({ sent: 12, deferred: 0 });
  expect(performance.now() - beganAtMs).toBeLessThan(3_000);
  const more = batch(at('gmail.com', 30));
  more.plan.integrationId = asked.plan.integrationId;
  // The table knows the domain without DNS.
  expect((await sender.sendBatch(more)).sent).toBeLessThan(10);
});

test('no more of a group are on their way at a time than it takes, and others use the connections', async () => {
  zones.set('gmail.com', gmail);
  zones.set('firm.example', { mx: ['mx.firm.example'] });
  given.sink.behaviour.latencyMs = 100;
  const { sender } = newReplica({ google: { perSecond: 100, atOnce: 1 } });
  const asked = batch([...at('gmail.com', 10), ...at('firm.example', 5)]);
  expect(await sender.sendBatch(asked)).toMatchObject({ sent: 15 });
  const times = at('gmail.com', 10).map((email) => given.sink.received.get(email)?.atMs ?? 0);
  const inOrder = times.toSorted((one, other) => one - other);
  for (const [place, time] of inOrder.slice(1).entries()) {
    expect(time - (inOrder[place] ?? 0)).toBeGreaterThan(80);
  }
});

test('a message by hand to a group without permits is put off with the reason', async () => {
  zones.set('gmail.com', gmail);
  const { sender } = newReplica({ google: { perSecond: 1 / 60, atOnce: 1 } });
  const { emails: _, ...asked } = batch([]);
  await sender.sendIndividual({ ...asked, recipientEmail: 'ada@gmail.com' });
  await expect(
    sender.sendIndividual({ ...asked, recipientEmail: 'bob@gmail.com' }),
  ).rejects.toMatchObject({ rawMessage: 'the message was put off: waits for the rate of google' });
});

test('recipients who may not be mailed are skipped at once, whatever the rate of their group', async () => {
  zones.set('gmail.com', gmail);
  const { sender } = newReplica({ google: { perSecond: 1, atOnce: 5 } });
  const asked = batch(at('gmail.com', 40));
  for (const email of asked.emails.slice(20)) given.world.skipReasons.set(email, 'unsubscribed');
  expect(await sender.sendBatch(asked)).toMatchObject({ sent: 9, skipped: 20, deferred: 11 });
});

test('permits of messages that were not begun are there for others', async () => {
  zones.set('gmail.com', gmail);
  const { sender } = newReplica({ google: { perSecond: 1, atOnce: 5 } });
  given.world.port = 1;
  const asked = batch(at('gmail.com', 9));
  expect(await sender.sendBatch(asked)).toMatchObject({ notStarted: 9, sent: 0 });
  given.world.port = given.sink.port;
  const back = newReplica({ google: { perSecond: 1, atOnce: 5 } });
  await until('the permits are back', async () => ((await rateOf(asked))?.tokens ?? 0) >= 9);
  expect(await back.sender.sendBatch(asked)).toMatchObject({ sent: 9 });
});

test('another process that has not asked for the group yet hears that it is slowed', async () => {
  zones.set('shop.example', { mx: ['mx.shop.example'] });
  const [one, other] = [newReplica(), newReplica()];
  const asked = batch(at('shop.example', 3));
  given.sink.behaviour.replies = [{ step: 'dot', reply: '451 4.7.1 too many messages' }];
  expect(await one.sender.sendBatch(asked)).toMatchObject({ sent: 0, deferred: 3 });
  await until('the rate is lower', async () => (await slowed(asked)) === 1);
  given.sink.behaviour.replies = [];
  const more = { ...batch(at('shop.example', 5, 'q')), plan: asked.plan };
  expect(await other.sender.sendBatch(more)).toMatchObject({ sent: 0, deferred: 5 });
});

async function slowed(asked: ReturnType<typeof batch>): Promise<number> {
  const found = await query(
    given.store.fork(),
    'select 1 from receiver_rates where integration_id = $1 and slowed_to is not null',
    [asked.plan.integrationId],
  );
  return found.length;
}

test('domains with a mail now and then take no row each', async () => {
  const { sender } = newReplica();
  const asked = batch(Array.from({ length: 200 }, (_, place) => `p@d${place}.example`));
  expect(await sender.sendBatch(asked)).toMatchObject({ sent: 200 });
  const found = await query(
    given.store.fork(),
    'select receiver from receiver_rates where integration_id = $1',
    [asked.plan.integrationId],
  );
  expect(found).toEqual([]);
});

test('while an integration warms up, domains without mail hosts make 2,000 rows at most', async () => {
  const startedOn = new Date().toISOString().slice(0, 10);
  const warmUp = create(WarmUpSchema, { startedOn, dailyLimits: [1_000_000] });
  const { context } = newReplica();
  const key = { workspaceId: 'w1', integrationId: crypto.randomUUID() };
  const open = Array.from({ length: 2_100 }, (_, n) => [`${n}`, `p@d${n}.example`] as const);
  const asked = { key, owner: 'p', open, isUrgent: false, now: new Date() };
  const { free, waiting } = await context.pacing.split({ ...asked, warmUp });
  expect(free.length + waiting.length).toBe(2_100);
  const [row] = await query<{ count: number }>(
    given.store.fork(),
    'select count(*)::int as count from receiver_rates where integration_id = $1',
    [key.integrationId],
  );
  expect(row?.count).toBe(2_001);
});

test('a batch whose turns cannot be recorded sends nothing, and its permits are there for the next try', async () => {
  zones.set('gmail.com', gmail);
  const google = { perSecond: 1, atOnce: 5 };
  const { contacts } = given.context;
  const { sender, context } = newReplica({ google });
  let isDown = true;
  const resolveRecipients: typeof contacts.resolveRecipients = (...asked) =>
    isDown
      ? Promise.reject(new ConnectError('away', Code.Unavailable))
      : contacts.resolveRecipients(...asked);
  context.contacts = { ...contacts, resolveRecipients };
  const asked = batch(at('gmail.com', 30));
  await expect(sender.sendBatch(asked)).rejects.toMatchObject({ code: Code.Unavailable });
  expect(await rows(asked)).toEqual([]);
  isDown = false;
  expect(await sender.sendBatch(asked)).toMatchObject({ sent: 9, deferred: 21 });
});

test('a message that waits longer than a day for its receiver is tried for days after a refusal', async () => {
  zones.set('gmail.com', gmail);
  const { sender } = newReplica({ google: { perSecond: 1 / 60, atOnce: 5 } });
  const asked = batch(at('gmail.com', 2));
  expect(await sender.sendBatch(asked)).toMatchObject({ sent: 1, deferred: 1 });
  await query(
    given.store.fork(),
    "update messages set created_at = created_at - interval '2 days' where integration_id = $1",
    [asked.plan.integrationId],
  );
  given.sink.behaviour.replies = [{ step: 'rcpt', reply: '450 4.3.0 not now' }];
  await pass(asked, 3_600);
  expect(await sender.sendBatch(asked)).toMatchObject({ sent: 1, deferred: 1 });
  const [row] = (await rows(asked)).filter(({ status }) => status === 'deferred');
  expect(row).toMatchObject({ attempts: 1, status_info: '450 4.3.0 not now' });
});

test('a message whose holder died waits for its receiver, and counts as unknown', async () => {
  zones.set('gmail.com', gmail);
  const { sender } = newReplica({ google: { perSecond: 1 / 60, atOnce: 5 } });
  const asked = batch(at('gmail.com', 2));
  await sender.sendBatch(asked);
  await query(
    given.store.fork(),
    `update messages set status = 'sending', attempts = 1, owner = gen_random_uuid(), due_at = null,
       lease_until = now() - interval '1 second' where integration_id = $1 and status = 'deferred'`,
    [asked.plan.integrationId],
  );
  expect(await sender.sendBatch(asked)).toMatchObject({ sent: 1, deferred: 1, unknown: 1 });
  const [row] = (await rows(asked)).filter(({ status }) => status === 'deferred');
  expect(row).toMatchObject({ attempts: 1, unknown: 1, owner: null });
});

test('transactional mail is paced, and goes out when its turn comes', async () => {
  zones.set('gmail.com', gmail);
  const integrationId = crypto.randomUUID();
  given.world.transactionalProvider = integrationId;
  const { context, transactional } = newReplica({ google: { perSecond: 1 / 60, atOnce: 5 } });
  context.transactional.queue.start();
  const id = await givenNotification(given);
  const ids: string[] = [];
  for (const name of ['ada', 'bob']) {
    const contact = { email: `${name}@gmail.com` };
    ids.push((await transactional.sendTransactional(sendOf(id, { contact }))).messageId);
  }
  const found = () =>
    query<{ status: string; status_info: string; attempts: number }>(
      given.store.fork(),
      'select status, status_info, attempts from messages where id = any($1) order by status',
      [ids],
    );
  await until('one is sent and one waits', async () => {
    const [waiting, sent] = await found();
    return sent?.status === 'sent' && waiting?.status_info === 'waits for the rate of google';
  });
  const em = given.store.fork();
  await query(em, `update receiver_rates set tokens = 1 where integration_id = $1`, [
    integrationId,
  ]);
  await query(em, 'update messages set due_at = now() where id = any($1) and due_at is not null', [
    ids,
  ]);
  await query(
    em,
    'update message_requests set due_at = now() where message_id = any($1) and due_at is not null',
    [ids],
  );
  await until(
    'both are sent',
    async () => (await found()).every(({ status }) => status === 'sent'),
    {
      withinMs: 20_000,
    },
  );
  expect(given.sink.duplicates()).toEqual([]);
  await context.transactional.stop();
});

const slowGoogle: Record<string, ReceiverLimits> = { google: { perSecond: 1 / 60, atOnce: 5 } };

type WaitingMail = {
  days: number;
  own?: object;
  rates?: Record<string, ReceiverLimits>;
  /** Messages that are sent to the group before it. */
  before?: number;
};

/** A message of the queue that waits, and a process that looks at it days later. */
async function givenWaiting(info: string, { days, own = {}, rates = {}, before = 0 }: WaitingMail) {
  zones.set('gmail.com', gmail);
  given.world.transactionalProvider = crypto.randomUUID();
  const id = await givenNotification(given);
  const contact = { email: `ada-${id}@gmail.com` };
  const first = newReplica(rates);
  first.context.transactional.queue.start();
  for (let n = 0; n < before; n += 1) {
    const other = { email: `before${n}-${id}@gmail.com` };
    await first.transactional.sendTransactional(sendOf(id, { contact: other }));
    await until('it is sent', async () => given.sink.bodies(other.email).length === 1);
  }
  const request = sendOf(id, { contact, ...own });
  const { messageId } = await first.transactional.sendTransactional(request);
  const row = async () => {
    const [found] = await query<{
      status: string;
      status_info: string;
      attempts: number;
      is_due: boolean;
    }>(
      given.store.fork(),
      'select status, status_info, attempts, due_at <= now() as is_due from messages where id = $1',
      [messageId],
    );
    return found;
  };
  await until('it waits', async () => (await row())?.status_info === info);
  await first.context.transactional.stop();
  const em = given.store.fork();
  await query(em, 'update messages set due_at = now() where id = $1', [messageId]);
  await query(em, 'update message_requests set due_at = now() where message_id = $1', [messageId]);
  const now = () => new Date(Date.now() + days * 86_400_000);
  const later = newReplica(rates, paceTimes, now);
  later.context.transactional.queue.start();
  return { row, later };
}

/** As `givenWaiting`, for a message that the receiver puts off. */
function givenPutOff(of: { days: number; own?: object }) {
  given.sink.behaviour.replies = [{ step: 'rcpt', reply: '450 4.3.0 not now' }];
  return givenWaiting('450 4.3.0 not now', of);
}

test('transactional mail that only waits for its turn goes on waiting after a day', async () => {
  const info = 'waits for the rate of google';
  const { row, later } = await givenWaiting(info, { days: 2, rates: slowGoogle, before: 1 });
  await until('it has another turn or failed', async () => (await row())?.is_due !== true);
  expect(await row()).toMatchObject({ status: 'deferred', status_info: info, attempts: 0 });
  await later.context.transactional.stop();
});

test('transactional mail that its receiver puts off is tried for 5 days', async () => {
  const { row, later } = await givenPutOff({ days: 2 });
  await until('it is tried again or failed', async () => {
    const found = await row();
    return found?.status === 'failed' || found?.attempts === 2;
  });
  await until('its outcome is recorded', async () => (await row())?.status !== 'sending');
  expect(await row()).toMatchObject({ status: 'deferred', status_info: '450 4.3.0 not now' });
  await later.context.transactional.stop();
});

test('transactional mail that its receiver puts off for longer fails with the words of the receiver', async () => {
  const { row, later } = await givenPutOff({ days: 5.5 });
  await until('it has failed', async () => (await row())?.status === 'failed');
  expect(await row()).toMatchObject({
    attempts: 1,
    status_info: 'not sent within 5 days: 450 4.3.0 not now',
  });
  await later.context.transactional.stop();
});

test('transactional mail with a time of its own waits for its receiver until then', async () => {
  const expiresAt = timestampFromMs(Date.now() + 20 * 86_400_000);
  const { row, later } = await givenPutOff({ days: 5.5, own: { expiresAt } });
  given.sink.behaviour.replies = [];
  await until('it is sent or failed', async () =>
    ['sent', 'failed'].includes((await row())?.status ?? ''),
  );
  expect(await row()).toMatchObject({ status: 'sent', attempts: 2 });
  await later.context.transactional.stop();
});
