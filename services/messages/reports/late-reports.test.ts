import { createRouterTransport } from '@connectrpc/connect';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ReportVerdict } from '#gen/postrider/messages/v1/reports_pb.ts';
import { openOutbox } from '#lib/events/outbox.ts';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { type Given, resetAfterEach, useService } from '../test/given.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';
import {
  applyAll,
  givenKey,
  givenSent,
  report,
  reportsAbout,
  smtpPlace,
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
beforeAll(() => {
  const outbox = openOutbox('messages', { contacts: anywhere, webhooks: anywhere });
  process = given.newProcess({ outbox });
});
beforeEach(async () => {
  key = await givenKey(given);
});

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

/** Mails to one address that were sent a day ago, and the reports about them. */
async function givenMails(email: string, mails: number) {
  const sent: string[] = [];
  for (let mail = 0; mail < mails; mail += 1) {
    sent.push((await givenSent(given, [email])).ids[0] ?? '');
  }
  await query(
    given.store.fork(),
    `update messages set created_at = now() - interval '1 day', sent_at = now() - interval '1 day'
     where id = any($1::uuid[])`,
    [sent],
  );
  await takeEvents(process.context);
  return sent.map((id) => ({ id, ...reportsAbout(id, email) })) as [Mail, Mail, Mail];
}
type Mail = { id: string } & ReturnType<typeof reportsAbout>;

const messageOf = async (id: string) =>
  (await given.messages.getMessage({ workspaceId, id })).message;
const suppressionOf = async (email: string) => {
  const page = await given.suppressions.listSuppressions({ workspaceId, emailPrefix: email });
  return page.suppressions[0]?.reason;
};
const remove = (email: string) =>
  given.suppressions.removeSuppression({ workspaceId, email, reason: 'repaired' });
const typesOf = async () => (await takeEvents(process.context)).map(({ type }) => type);

test.each(['hard', 'complaint'] as const)(
  'a report of a %s from before a removal leaves the address off the list',
  async (name) => {
    const email = unique('ann');
    const [one, two, three] = await givenMails(email, 3);
    await report(process, key, [{ ...one[name], timestamp: hoursAgo(20) }]);
    await remove(email);
    await takeEvents(process.context);
    await report(process, key, [{ ...two[name], timestamp: hoursAgo(20) }]);
    expect(await suppressionOf(email)).toBeUndefined();
    expect(await typesOf()).toEqual(name === 'hard' ? [] : ['email.complained']);
    await report(process, key, [three[name]]);
    expect(await suppressionOf(email)).toBe(name === 'hard' ? 'bounced' : 'complained');
  },
);

test('a hard bounce from before a delivery of another mail says only that its mail was returned', async () => {
  const email = unique('ann');
  const [one, two, three] = await givenMails(email, 3);
  await report(process, key, [{ ...one.delivered, timestamp: hoursAgo(2) }]);
  await takeEvents(process.context);
  await report(process, key, [{ ...two.hard, timestamp: hoursAgo(3) }]);
  const message = await messageOf(two.id);
  expect(message).toMatchObject({ status: 'sent', bounceClass: 'hard' });
  expect([message?.softBouncedAt === undefined, message?.bouncedAt]).toEqual([false, undefined]);
  expect([await suppressionOf(email), await typesOf()]).toEqual([undefined, []]);
  await report(process, key, [{ ...three.hard, timestamp: hoursAgo(1) }]);
  expect([await suppressionOf(email), await typesOf()]).toEqual(['bounced', ['email.bounced']]);
});

test('a delivery in the same request counts as a newer sign of life, and so does an open', async () => {
  const email = unique('ann');
  const [one, two] = await givenMails(email, 2);
  await report(process, key, [
    { ...one.hard, timestamp: hoursAgo(3) },
    { ...two.delivered, timestamp: hoursAgo(2) },
  ]);
  expect(await suppressionOf(email)).toBeUndefined();
  const opened = unique('ann');
  const [first, second] = await givenMails(opened, 2);
  await query(given.store.fork(), 'update messages set opened_at = now() where id = $1', [
    first.id,
  ]);
  await report(process, key, [{ ...second.hard, timestamp: hoursAgo(3) }]);
  expect(await suppressionOf(opened)).toBeUndefined();
});

test('soft bounces from before a removal do not count towards the next suppression', async () => {
  const email = unique('full');
  const mails = await givenMails(email, 6);
  const daysAgo = (place: number) => hoursAgo(24 * (20 - 2 * place));
  await query(
    given.store.fork(),
    `update messages set created_at = now() - interval '21 days', sent_at = now() - interval '21 days'
     where contact_email = $1`,
    [email],
  );
  const softs = mails.map(({ soft }, place) => ({ ...soft, timestamp: daysAgo(place) }));
  await report(process, key, softs.slice(0, 5));
  expect(await suppressionOf(email)).toBe('bounced');
  await remove(email);
  await report(process, key, softs.slice(5));
  expect(await suppressionOf(email)).toBeUndefined();
});

test('deleting a contact forgets when its suppression was removed', async () => {
  const email = unique('gone');
  await given.suppressions.addSuppression({ workspaceId, email });
  await remove(email);
  const held = () =>
    query(given.store.fork(), 'select 1 from lifted_suppressions where email = $1', [email]);
  expect(await held()).toHaveLength(1);
  const deleted = { type: 'contact.deleted', dataJson: JSON.stringify({ contact: { email } }) };
  const batchId = crypto.randomUUID();
  await given.events.consumeEvents({ workspaceId, batchId, events: [deleted] });
  expect(await held()).toEqual([]);
});

test.each(['hard', 'soft'] as const)(
  'a %s bounce from before the message was retried says nothing about the next attempt',
  async (name) => {
    const email = unique('ann');
    const notification = await givenNotification(given);
    given.sink.behaviour.replies = [
      { step: 'rcpt', recipient: `^${email}`, reply: '550 5.7.1 not today' },
    ];
    const request = sendOf(notification, { contact: { email } });
    const { messageId: id } = await given.transactional.sendTransactional(request);
    await until('it has failed', async () => (await messageOf(id))?.status === 'failed');
    const bounce = { event: 'bounce', bounce_category: name, message_id: id, recipient: email };
    const body = Buffer.from(JSON.stringify({ ...bounce, timestamp: new Date().toISOString() }));
    await process.inbound.recordReports({ ...smtpPlace, provider: 'smtp', key, body });
    await given.messages.retryMessage({ workspaceId, id });
    await query(
      given.store.fork(),
      `update messages set status = 'sent', due_at = null, sent_at = now() where id = $1`,
      [id],
    );
    await applyAll(process.context);
    const message = await messageOf(id);
    expect([message?.status, message?.softBouncedAt]).toEqual(['sent', undefined]);
    expect(await suppressionOf(email)).toBeUndefined();
    await report(process, key, [bounce]);
    const after = await messageOf(id);
    expect(after?.bouncedAt ?? after?.softBouncedAt).toBeDefined();
  },
);

test('a report with a time that PostgreSQL does not take holds up no others, and counts as of now', async () => {
  const [odd, good] = [unique('odd'), unique('good')];
  const [[one], [two]] = [await givenMails(odd, 1), await givenMails(good, 1)];
  const timestamp = '9999-12-31T23:59:59-23:59';
  const verdict = await report(process, key, [{ ...one.delivered, timestamp }, two.delivered]);
  expect(verdict).toBe(ReportVerdict.RECORDED);
  const statuses = [await messageOf(one.id), await messageOf(two.id)].map((each) => each?.status);
  expect(statuses).toEqual(['delivered', 'delivered']);
});

test.each<[string, (mail: Mail) => object]>([
  ['of a type that is not registered', ({ delivered }) => delivered],
  ['without an id of ours', ({ hard }) => ({ ...hard, message_id: '4F3B2A1C0D' })],
])('a report %s keeps no address of a contact that is deleted', async (_, of) => {
  await given.reports.registerReports({ ...smtpPlace, eventTypes: ['bounce'] });
  const [kept, gone] = [unique('kept'), unique('gone')];
  const [[one], [two]] = [await givenMails(kept, 1), await givenMails(gone, 1)];
  const deleted = {
    type: 'contact.deleted',
    dataJson: JSON.stringify({ contact: { email: gone } }),
  };
  const batchId = crypto.randomUUID();
  await given.events.consumeEvents({ workspaceId, batchId, events: [deleted] });
  await query(given.store.fork(), 'truncate inbound_reports', []);
  await report(process, key, [of(one), of(two)]);
  const rows = await query(
    given.store.fork(),
    'select email, raw is null as is_bare from inbound_reports order by email',
    [],
  );
  expect(rows).toEqual([
    { email: '', is_bare: true },
    { email: kept, is_bare: false },
  ]);
});
