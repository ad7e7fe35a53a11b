import { createRouterTransport } from '@connectrpc/connect';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ReportVerdict } from '#gen/postrider/messages/v1/reports_pb.ts';
import { openOutbox } from '#lib/events/outbox.ts';
import { RateLimiter } from '#lib/limits/rate-limiter.ts';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { applyReports } from '../tasks/apply-reports.ts';
import { type Given, resetAfterEach, useService } from '../test/given.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';
import {
  applyAll,
  givenKey,
  givenSent,
  keyIn,
  report,
  reportsAbout,
  smtpPlace,
  storeAll,
  takeEvents,
} from '../test/given-reports.ts';

const given = useService();
resetAfterEach(given);

const { workspaceId } = smtpPlace;
const anywhere = createRouterTransport(() => {});
let count = 0;
const unique = (name: string) => `${name}-${count++}@example.com`;

let process: ReturnType<Given['newProcess']>;
let key = '';
beforeAll(async () => {
  const outbox = openOutbox('messages', { contacts: anywhere, webhooks: anywhere });
  process = given.newProcess({ outbox });
});
beforeEach(async () => {
  key = await givenKey(given);
  await takeEvents(process.context);
});

/** A message that was sent to a new address. */
async function givenMessage() {
  const email = unique('ann');
  const { ids, broadcastId } = await givenSent(given, [email]);
  const [id = ''] = ids;
  return { id, email, broadcastId, ...reportsAbout(id, email) };
}

const messageOf = async (id: string) =>
  (await given.messages.getMessage({ workspaceId, id })).message;
const suppressionOf = async (email: string) => {
  const page = await given.suppressions.listSuppressions({ workspaceId, emailPrefix: email });
  return page.suppressions[0];
};
const statesOf = async (email: string) => {
  const rows = await query<{ state: string }>(
    given.store.fork(),
    'select state from inbound_reports where email = $1 order by received_at, state',
    [email],
  );
  return rows.map(({ state }) => state);
};
/** Everything that reports may change. */
const worldOf = (workspace: string) =>
  query(
    given.store.fork(),
    `select 'messages' as place, to_jsonb(m)::text as row from messages m where workspace_id = $1
     union all select 'counts', to_jsonb(c)::text from variation_counts c where workspace_id = $1
     union all select 'suppressions', to_jsonb(s)::text from suppressions s where workspace_id = $1
     union all select 'jobs', payload::text from messages_jobs._private_jobs where payload ->> 'workspaceId' = $1
     order by 1, 2`,
    [workspace],
  );

test('a hard bounce is shown by the message, counts, suppresses the address and is an event', async () => {
  const { id, email, broadcastId, hard } = await givenMessage();
  const words = `550 5.1.1 <${email}>: no such user`;
  expect(await report(process, key, { ...hard, diagnostic_code: words })).toBe(
    ReportVerdict.RECORDED,
  );
  const diagnostic = '550 5.1.1 <[address]>: no such user';
  const message = await messageOf(id);
  expect(message).toMatchObject({ status: 'bounced', bounceClass: 'hard', diagnostic });
  expect(message?.bouncedAt).toBeDefined();
  const { stats } = await given.messages.getBroadcastStats({ workspaceId, broadcastId });
  expect(stats).toMatchObject({ totalSent: 1, totalBounced: 1, totalSoftBounced: 0 });
  expect(await suppressionOf(email)).toMatchObject({ reason: 'bounced' });
  const { facts } = await given.facts.listMessageFacts({ workspaceId, email, limit: 10 });
  expect(
    facts.map((fact) => [fact.id.replace(/.*:/, ''), fact.bounceClass, fact.diagnostic]),
  ).toEqual([
    ['bounced', 'hard', diagnostic],
    ['sent', '', ''],
  ]);
  expect(await takeEvents(process.context)).toMatchObject([
    { type: 'email.bounced', data: { email, message_id: id, bounce_class: 'hard', diagnostic } },
  ]);
  expect(await statesOf(email)).toEqual(['applied']);
});

test('a delivery and a complaint are events, and the complaint suppresses in the whole workspace', async () => {
  const { id, email, broadcastId, delivered, complaint } = await givenMessage();
  await report(process, key, [delivered]);
  expect(await messageOf(id)).toMatchObject({ status: 'delivered' });
  await report(process, key, [complaint]);
  expect(await messageOf(id)).toMatchObject({ status: 'complained' });
  expect((await takeEvents(process.context)).map(({ type }) => type)).toEqual([
    'email.delivered',
    'email.complained',
  ]);
  const { stats } = await given.messages.getBroadcastStats({ workspaceId, broadcastId });
  expect(stats).toMatchObject({ totalDelivered: 1, totalComplained: 1, totalBounced: 0 });
  expect((await suppressionOf(email))?.reason).toBe('complained');
});

test('a delivery after the bounce leaves it bounced, and a bounce after the delivery bounces it', async () => {
  const [first, second] = [await givenMessage(), await givenMessage()];
  await report(process, key, [first.hard]);
  await report(process, key, [first.delivered, second.delivered]);
  await report(process, key, [second.hard]);
  for (const { id } of [first, second]) {
    const message = await messageOf(id);
    expect(message?.status).toBe('bounced');
    expect(message?.deliveredAt).toBeDefined();
  }
});

test('a report that comes twice changes nothing, nor does another report of the same', async () => {
  const { id, hard, email } = await givenMessage();
  await report(process, key, [hard, hard]);
  const before = [await messageOf(id), await suppressionOf(email)];
  await takeEvents(process.context);
  await report(process, key, [hard]);
  await report(process, key, [{ ...hard, id: 'another', timestamp: '2026-01-01T00:00:00Z' }]);
  expect([await messageOf(id), await suppressionOf(email)]).toEqual(before);
  expect(await takeEvents(process.context)).toEqual([]);
  expect(await statesOf(email)).toEqual(['applied', 'applied']);
});

test('times are those of the provider, not before the message was sent nor in the future', async () => {
  const [early, late, right] = [await givenMessage(), await givenMessage(), await givenMessage()];
  await query(
    given.store.fork(),
    `update messages set sent_at = now() - interval '1 hour' where id = any($1::uuid[])`,
    [[early.id, late.id, right.id]],
  );
  const at = new Date(Date.now() - 60_000).toISOString();
  await report(process, key, [
    { ...early.delivered, timestamp: '2020-01-01T00:00:00Z' },
    { ...late.delivered, timestamp: '2099-01-01T00:00:00Z' },
    { ...right.delivered, timestamp: at },
  ]);
  const [one, two, three] = [
    await messageOf(early.id),
    await messageOf(late.id),
    await messageOf(right.id),
  ];
  expect(one?.deliveredAt).toEqual(one?.sentAt);
  expect(Number(two?.deliveredAt?.seconds)).toBeLessThanOrEqual(Date.now() / 1_000);
  expect(new Date(Number(three?.deliveredAt?.seconds) * 1_000).toISOString()).toBe(
    `${at.slice(0, 19)}.000Z`,
  );
});

test.each(['soft', 'expired', 'message', 'sender', 'unknown'])(
  'a mail that is returned as %s is no bounce: it is counted apart and suppresses nothing',
  async (word) => {
    const { id, email, soft, broadcastId } = await givenMessage();
    await report(process, key, [{ ...soft, bounce_category: word }]);
    const message = await messageOf(id);
    expect(message).toMatchObject({ status: 'sent', bounceClass: word });
    expect(message?.softBouncedAt).toBeDefined();
    const { stats } = await given.messages.getBroadcastStats({ workspaceId, broadcastId });
    expect(stats).toMatchObject({ totalBounced: 0, totalSoftBounced: 1 });
    expect(await suppressionOf(email)).toBeUndefined();
    expect(await takeEvents(process.context)).toEqual([]);
  },
);

test('messages.why quotes the words of the report, and says what soft bounces do', async () => {
  const [dead, full] = [await givenMessage(), await givenMessage()];
  await report(process, key, [
    { ...dead.hard, diagnostic_code: '550 5.1.1 gone' },
    { ...full.soft, diagnostic_code: '452 4.2.2 full' },
  ]);
  const why = async (email: string) => {
    const { reasons } = await given.messages.explainMessages({ workspaceId, email });
    return `${reasons[0]?.code} ${reasons[0]?.text}`;
  };
  expect(await why(dead.email)).toBe(
    'bounced The mail server refused the address for good. (550 5.1.1 gone)',
  );
  expect(await why(full.email)).toBe(
    'returned The mail server took the message, and it was returned: the mailbox may take others. (452 4.2.2 full)',
  );
  const email = unique('full');
  await report(process, key, await givenFiveReturned(email));
  const { reasons } = await given.messages.explainMessages({ workspaceId, email });
  expect(reasons.find(({ code }) => code === 'suppressed')?.text).toMatch(
    /^The address is on the suppression list until \d{4}-.*Z: the address had bounced\.$/,
  );
});

test('the words of a hard bounce replace those of a soft one, and not the other way', async () => {
  const { id, soft, hard } = await givenMessage();
  await report(process, key, [{ ...soft, diagnostic_code: '452 full' }]);
  await report(process, key, [{ ...hard, diagnostic_code: '550 5.1.1 gone' }]);
  await report(process, key, [{ ...soft, diagnostic_code: '450 later' }]);
  expect(await messageOf(id)).toMatchObject({ bounceClass: 'hard', diagnostic: '550 5.1.1 gone' });
});

/** Five messages to one address, sent days apart, and that each was returned. */
async function givenFiveReturned(email: string, { days = 2, alive = -1 } = {}) {
  const ids: string[] = [];
  for (let mail = 0; mail < 5; mail += 1) ids.push((await givenSent(given, [email])).ids[0] ?? '');
  await query(
    given.store.fork(),
    `update messages m set created_at = at, sent_at = at,
       opened_at = case when place = $3 + 1 then at + interval '2 hours' end
     from unnest($1::uuid[]) with ordinality as given (id, place)
     cross join lateral (select now() - (12 - (place - 1) * $2::int) * interval '1 day' as at) times
     where m.id = given.id`,
    [ids, days, alive],
  );
  return ids.flatMap((id, place) => {
    const at = new Date(Date.now() - (12 - place * days) * 86_400_000 + 60_000);
    const soft = { event: 'bounce', message_id: id, recipient: email, bounce_category: 'soft' };
    const timestamp = at.toISOString();
    return [
      { ...soft, timestamp },
      { ...soft, timestamp, id: `again ${id}` },
    ];
  });
}

test('five soft bounces in a row over a week suppress the address for thirty days', async () => {
  const email = unique('full');
  for (const event of await givenFiveReturned(email)) await report(process, key, [event]);
  const entry = await suppressionOf(email);
  expect(entry).toMatchObject({ reason: 'bounced', note: '5 soft bounces in a row' });
  const days = (Number(entry?.expiresAt?.seconds) - Date.now() / 1_000) / 86_400;
  expect(Math.round(days)).toBe(30);
});

test.each([
  ['within less than a week', { days: 1 }],
  ['with an open between them', { alive: 2 }],
])('five soft bounces %s suppress nothing', async (_, over) => {
  const email = unique('full');
  await report(process, key, await givenFiveReturned(email, over));
  expect(await suppressionOf(email)).toBeUndefined();
});

test('a complaint replaces a suppression that ends', async () => {
  const email = unique('full');
  const events = await givenFiveReturned(email);
  await report(process, key, events);
  const complaint = { event: 'complaint', message_id: events[0]?.message_id, recipient: email };
  await report(process, key, [complaint]);
  const entry = await suppressionOf(email);
  expect([entry?.reason, entry?.expiresAt]).toEqual(['complained', undefined]);
});

test('soft bounces leave a suppression that does not end as it is', async () => {
  const email = unique('full');
  const events = await givenFiveReturned(email);
  await given.suppressions.addSuppression({ workspaceId, email });
  await report(process, key, events);
  const entry = await suppressionOf(email);
  expect([entry?.reason, entry?.expiresAt]).toEqual(['opted_out', undefined]);
});

test.each<[string, (message: Awaited<ReturnType<typeof givenMessage>>) => object]>([
  ['another recipient', ({ hard }) => ({ ...hard, recipient: unique('other') })],
  ['an unknown message', ({ hard }) => ({ ...hard, message_id: crypto.randomUUID() })],
  ['no id of ours', ({ hard }) => ({ ...hard, message_id: '4F3B2A1C0D' })],
])('a report with %s is stored as unmatched and changes nothing', async (_, wrong) => {
  const message = await givenMessage();
  const event = wrong(message);
  const before = await worldOf(workspaceId);
  await report(process, key, [event]);
  expect(await worldOf(workspaceId)).toEqual(before);
  expect(await statesOf(`${Reflect.get(event, 'recipient')}`)).toEqual(['unmatched']);
});

test('a report by another integration than that of the message changes nothing', async () => {
  const { hard, email } = await givenMessage();
  const place = { workspaceId, integrationId: 'smtp-2' };
  const other = await givenKey(given, place);
  const before = await worldOf(workspaceId);
  expect(await report(process, other, [hard], place)).toBe(ReportVerdict.RECORDED);
  expect(await worldOf(workspaceId)).toEqual(before);
  expect(await statesOf(email)).toEqual(['unmatched']);
});

test('a bounce of a copy is not that of the contact', async () => {
  const notification = await givenNotification(given);
  const [email, copy] = [unique('to'), unique('copy')];
  const request = sendOf(notification, { contact: { email }, emailOptions: { cc: [copy] } });
  const { messageId: id } = await given.transactional.sendTransactional(request);
  await until('it is sent', async () => (await messageOf(id))?.status === 'sent');
  const bounce = { event: 'bounce', bounce_category: 'hard', message_id: id, recipient: copy };
  await report(process, key, [bounce]);
  expect(await messageOf(id)).toMatchObject({ status: 'sent' });
  expect([await suppressionOf(email), await suppressionOf(copy)]).toEqual([undefined, undefined]);
  expect(await statesOf(copy)).toEqual(['unmatched']);
});

test('reports of a workspace with ids of another change nothing there', async () => {
  const theirs = await givenMessage();
  const place = { workspaceId: 'w2', integrationId: 'smtp-1' };
  const own = await givenKey(given, place);
  const before = await worldOf(workspaceId);
  const { delivered, hard, soft, complaint } = theirs;
  const verdict = await report(process, own, [delivered, hard, soft, complaint], place);
  expect(verdict).toBe(ReportVerdict.RECORDED);
  expect(await worldOf(workspaceId)).toEqual(before);
  expect(await statesOf(theirs.email)).toEqual(Array.from({ length: 4 }, () => 'unmatched'));
  // Nor does their key open the door of the other.
  expect(await report(process, own, [hard])).toBe(ReportVerdict.REFUSED);
  expect(await worldOf(workspaceId)).toEqual(before);
});

test('a report that is there before its message is recorded as sent waits for it', async () => {
  const { id, email, delivered } = await givenMessage();
  await query(
    given.store.fork(),
    `update messages set status = 'sending', sent_at = null where id = $1`,
    [id],
  );
  await report(process, key, [delivered]);
  expect(await statesOf(email)).toEqual(['received']);
  await query(
    given.store.fork(),
    `update messages set status = 'sent', sent_at = now() where id = $1`,
    [id],
  );
  await query(given.store.fork(), 'update inbound_reports set due_at = now() where email = $1', [
    email,
  ]);
  await applyAll(process.context);
  expect([await statesOf(email), (await messageOf(id))?.status]).toEqual([
    ['applied'],
    'delivered',
  ]);
});

test('a report about a message that was never sent is unmatched after an hour', async () => {
  const { id, email, delivered } = await givenMessage();
  await query(
    given.store.fork(),
    `update messages set status = 'sending', sent_at = null where id = $1`,
    [id],
  );
  await report(process, key, [delivered]);
  await query(
    given.store.fork(),
    `update inbound_reports set due_at = now(), received_at = now() - interval '61 minutes' where email = $1`,
    [email],
  );
  await applyAll(process.context);
  expect(await statesOf(email)).toEqual(['unmatched']);
});

test('a report about a message whose contact is deleted keeps no address', async () => {
  const { id, email, hard } = await givenMessage();
  await query(given.store.fork(), `update messages set contact_email = '' where id = $1`, [id]);
  await report(process, key, [{ ...hard, diagnostic_code: `550 5.1.1 <${email}> unknown` }]);
  const rows = await query(
    given.store.fork(),
    'select email, raw, state from inbound_reports where message_id = $1',
    [id],
  );
  expect(rows).toEqual([{ email: '', raw: null, state: 'unmatched' }]);
});

test('deleting the contact leaves its address in no row of reports, applied or not', async () => {
  const { email, hard, complaint } = await givenMessage();
  await report(process, key, [hard, { ...complaint, message_id: crypto.randomUUID() }]);
  const body = Buffer.from(JSON.stringify({ ...hard, id: 'waits' }));
  await process.inbound.recordReports({ ...smtpPlace, provider: 'smtp', key, body });
  await storeAll(process.context);
  const held = () =>
    query(given.store.fork(), 'select 1 from inbound_reports r where to_jsonb(r)::text like $1', [
      `%${email}%`,
    ]);
  expect(await held()).toHaveLength(3);
  const waits = Buffer.from(JSON.stringify({ ...hard, id: 'waits in its request' }));
  await process.inbound.recordReports({ ...smtpPlace, provider: 'smtp', key, body: waits });
  const deleted = { type: 'contact.deleted', dataJson: JSON.stringify({ contact: { email } }) };
  const batchId = crypto.randomUUID();
  await given.events.consumeEvents({ workspaceId, batchId, events: [deleted] });
  await applyAll(process.context);
  expect(await held()).toEqual([]);
  // A repeat of the provider's does not bring it back.
  await report(process, key, [hard]);
  expect(await held()).toEqual([]);
});

test('a report about a copy keeps no body, which may name the recipient', async () => {
  const { hard, delivered, email } = await givenMessage();
  const { email: copy } = await givenMessage();
  const aboutCopy = [hard, { ...delivered, event: 'deferred' }];
  await report(process, key, [
    ...aboutCopy.map((each) => ({ ...each, recipient: copy, to: email })),
    hard,
  ]);
  const rows = await query<{ email: string; state: string; has_body: boolean }>(
    given.store.fork(),
    `select email, state, raw is not null as has_body from inbound_reports
     where email = any($1) order by state`,
    [[email, copy]],
  );
  expect(rows).toEqual([
    { email, state: 'applied', has_body: true },
    { email: copy, state: 'ignored', has_body: false },
    { email: copy, state: 'unmatched', has_body: false },
  ]);
});

test('one report that cannot be read holds up no others, and nothing of it is kept', async () => {
  const { id, delivered } = await givenMessage();
  const verdict = await report(process, key, [{ secret: 'ann@example.com' }, delivered]);
  expect(verdict).toBe(ReportVerdict.RECORDED);
  expect((await messageOf(id))?.status).toBe('delivered');
  const rows = await query(
    given.store.fork(),
    "select email, raw, type from inbound_reports where state = 'invalid'",
    [],
  );
  expect(rows).toContainEqual({ email: '', raw: null, type: '' });
});

test('reports of kinds that change nothing are ignored, as are types that are not registered', async () => {
  const { id, email, delivered, complaint } = await givenMessage();
  await given.reports.registerReports({ ...smtpPlace, eventTypes: ['bounce', 'complaint'] });
  const events = [
    delivered,
    { ...complaint, complaint_type: 'not-spam' },
    { ...delivered, event: 'deferred' },
  ];
  await report(process, key, events);
  expect(await statesOf(email)).toEqual(['ignored', 'ignored', 'ignored']);
  expect(await messageOf(id)).toMatchObject({ status: 'sent' });
});

test('the body of a report is stored sealed', async () => {
  const { email, delivered } = await givenMessage();
  await report(process, key, [delivered]);
  const [row] = await query<{ raw: Buffer }>(
    given.store.fork(),
    'select raw from inbound_reports where email = $1',
    [email],
  );
  expect(row?.raw.length).toBeGreaterThan(100);
  expect(row?.raw.includes(email)).toBe(false);
});

test.each<
  [
    string,
    () => Promise<Partial<Record<'workspaceId' | 'integrationId' | 'provider' | 'key', string>>>,
  ]
>([
  ['another key', async () => ({ key: 'k'.repeat(43) })],
  ['no key', async () => ({ key: '' })],
  ['another workspace', async () => ({ workspaceId: 'w3' })],
  ['another integration', async () => ({ integrationId: 'smtp-9' })],
  ['another kind of provider', async () => ({ provider: 'ses' })],
  [
    'the key of an integration that is deleted',
    async () => {
      const place = { workspaceId, integrationId: 'deleted' };
      // The row is of before the deletion.
      await query(
        given.store.fork(),
        `insert into report_keys select workspace_id, 'deleted', digest, null, null, types, created_at
         from report_keys where workspace_id = $1 and integration_id = $2 on conflict do nothing`,
        [workspaceId, smtpPlace.integrationId],
      );
      return place;
    },
  ],
])('a request with %s is refused alike and stores nothing', async (_, over) => {
  const body = Buffer.from(JSON.stringify({ event: 'delivered', recipient: unique('x') }));
  const rows = `select (select count(*) from inbound_requests) as requests, (select count(*) from inbound_reports) as reports`;
  const before = await query(given.store.fork(), rows, []);
  const { verdict } = await process.inbound.recordReports({
    ...{ ...smtpPlace, provider: 'smtp', key, body },
    ...(await over()),
  });
  expect(verdict).toBe(ReportVerdict.REFUSED);
  expect(await query(given.store.fork(), rows, [])).toEqual(before);
});

test('a body that cannot be read has an answer of its own, and only behind the right key', async () => {
  const request = { ...smtpPlace, provider: 'smtp', key, body: Buffer.from('{') };
  expect((await process.inbound.recordReports(request)).verdict).toBe(ReportVerdict.UNREADABLE);
  const wrong = { ...request, key: 'x' };
  expect((await process.inbound.recordReports(wrong)).verdict).toBe(ReportVerdict.REFUSED);
});

test('the key before is taken for a day after a rotation, and none after unregistering', async () => {
  const { delivered } = await givenMessage();
  const rotated = await given.reports.rotateReportSecret(smtpPlace);
  const fresh = keyIn(rotated.status?.endpoints[0]?.url);
  expect(await report(process, key, [delivered])).toBe(ReportVerdict.RECORDED);
  expect(await report(process, fresh, [delivered])).toBe(ReportVerdict.RECORDED);
  const tomorrow = given.newProcess({ now: () => new Date(Date.now() + 25 * 3_600_000) });
  expect(await report(tomorrow, key, [delivered])).toBe(ReportVerdict.REFUSED);
  await given.reports.unregisterReports(smtpPlace);
  expect(await report(process, fresh, [delivered])).toBe(ReportVerdict.REFUSED);
});

test('an integration beyond its rate of reports has to come again, and others do not', async () => {
  const limited = given.newProcess({ reportRate: new RateLimiter(0.001, { burst: 2 }) });
  const { delivered, hard } = await givenMessage();
  await report(limited, key, [delivered, hard]);
  await expect(report(limited, key, [delivered])).rejects.toThrow('too many reports');
  const place = { workspaceId: 'w2', integrationId: 'smtp-1' };
  expect(await report(limited, await givenKey(given, place), [delivered], place)).toBe(
    ReportVerdict.RECORDED,
  );
});

test.each([
  ['that hold no report', '[]', 3],
  ['that cannot be read', '{', 3],
  ['with much text', JSON.stringify({ event: 'x', text: 'x'.repeat(2_100) }), 1],
])('requests %s count by themselves and by their size', async (_, text, taken) => {
  const limited = given.newProcess({ reportRate: new RateLimiter(0.001, { burst: 3 }) });
  const body = Buffer.from(text);
  const request = { ...smtpPlace, provider: 'smtp', key, body };
  for (let each = 0; each < taken; each += 1) await limited.inbound.recordReports(request);
  await expect(limited.inbound.recordReports(request)).rejects.toThrow('too many reports');
  const place = { workspaceId: 'w2', integrationId: 'smtp-1' };
  const other = { ...request, ...place, key: await givenKey(given, place) };
  await limited.inbound.recordReports(other);
});

test('beyond the quota of its workspace a report has to come again', async () => {
  given.world.quotas = { inbound_reports: 1n };
  const full = given.newProcess();
  const { delivered } = await givenMessage();
  await report(process, key, [delivered]);
  await until('it is counted', async () => {
    return full.context.quotas.room(workspaceId, 'inbound_reports') === 0;
  });
  await expect(report(full, key, [delivered])).rejects.toThrow('inbound reports');
});

test('a job applies 500 reports, and the next ones are a job of their own', async () => {
  const { email, delivered } = await givenMessage();
  const many = Array.from({ length: 501 }, (_, id) => ({ ...delivered, id: `${id}` }));
  const body = Buffer.from(JSON.stringify(many));
  await process.inbound.recordReports({ ...smtpPlace, provider: 'smtp', key, body });
  await storeAll(process.context);
  const applied = async () => (await statesOf(email)).filter((state) => state === 'applied').length;
  const apply = applyReports(process.context);
  await apply({ workspaceId });
  expect(await applied()).toBe(500);
  const jobs = await query(
    given.store.fork(),
    `select 1 from messages_jobs.jobs where key = 'applyReports w1' and run_at <= now()`,
    [],
  );
  expect(jobs).toHaveLength(1);
  await apply({ workspaceId });
  expect(await applied()).toBe(501);
});

test('reports that a job leaves wait behind the jobs of others, however long they are due', async () => {
  const { email, delivered } = await givenMessage();
  const many = Array.from({ length: 501 }, (_, id) => ({ ...delivered, id: `behind ${id}` }));
  const body = Buffer.from(JSON.stringify(many));
  await process.inbound.recordReports({ ...smtpPlace, provider: 'smtp', key, body });
  await storeAll(process.context);
  const jobs = () =>
    query<{ priority: number; is_before: boolean }>(
      given.store.fork(),
      `select priority, run_at < $1::timestamptz as is_before from messages_jobs.jobs where key = 'applyReports w1'`,
      [before],
    );
  let before = new Date(0);
  expect(await jobs()).toMatchObject([{ priority: 1 }]);
  await query(
    given.store.fork(),
    `update inbound_reports set due_at = now() - interval '10 minutes' where email = $1`,
    [email],
  );
  before = new Date();
  await applyReports(process.context)({ workspaceId });
  expect(await jobs()).toEqual([{ priority: 1, is_before: false }]);
  await applyAll(process.context);
});

test.each([
  ['a minute', 60],
  ['ten minutes', 600],
])('a report that has waited %s waits for as long again', async (_, seconds) => {
  const { id, email, delivered } = await givenMessage();
  const em = given.store.fork();
  await query(em, `update messages set status = 'sending', sent_at = null where id = $1`, [id]);
  const body = Buffer.from(JSON.stringify(delivered));
  await process.inbound.recordReports({ ...smtpPlace, provider: 'smtp', key, body });
  await storeAll(process.context);
  await query(
    em,
    `update inbound_reports set received_at = now() - $2::int * interval '1 second' where email = $1`,
    [email, seconds],
  );
  await applyAll(process.context);
  const [row] = await query<{ seconds: number }>(
    em,
    'select extract(epoch from due_at - now())::int as seconds from inbound_reports where email = $1',
    [email],
  );
  expect(Math.abs((row?.seconds ?? 0) - seconds)).toBeLessThan(5);
});
