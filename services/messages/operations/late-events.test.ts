import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { beforeEach, expect, test } from '@jest/globals';
import type { ConsumeEventsRequestSchema } from '#gen/postrider/events/v1/events_pb.ts';
import { consumersOf } from '#lib/events/contracts.ts';
import { query } from '#lib/postgres/query.ts';
import { keyring } from '../../../test/setup/service.ts';
import { createTokenMaker } from '../links/token.ts';
import { broadcastMessageId } from '../message.ts';
import { forgetContacts } from '../tasks/forget-contacts.ts';
import { sendConfirmations } from '../tasks/send-confirmations.ts';
import { sendWelcomes } from '../tasks/send-welcomes.ts';
import { batchOf, resetAfterEach, useService } from '../test/given.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';
import { handlers } from './consume-events.ts';

// Every event that this service consumes, an hour late and after what it speaks of has changed:
// newer state stands.

const workspaceId = 'w1';
const listId = 'weekly';
const email = 'back@example.com';
const hourAgo = () => new Date(Date.now() - 3_600_000);

const given = useService();
resetAfterEach(given);
beforeEach(async () => {
  await query(
    given.store.fork(),
    'truncate messages, confirmations, open_confirmations, welcomes',
    [],
  );
});

type Events = NonNullable<MessageInitShape<typeof ConsumeEventsRequestSchema>['events']>;

const consume = (...events: Events) =>
  given.events.consumeEvents({ workspaceId, batchId: crypto.randomUUID(), events });
const event = (type: string, data: object, at: Date) => ({
  type,
  occurredAt: timestampFromDate(at),
  dataJson: JSON.stringify(data),
});
const deleted = (at: Date) => event('contact.deleted', { contact: { email } }, at);
const due = (at: Date) => event('confirmation.due', { email, list_id: listId }, at);
const welcome = (at: Date) =>
  event('welcome.due', { email, list_id: listId, active_since: at.toISOString() }, at);
const mailPending = () => sendConfirmations(given.context)({ workspaceId, listId });

const rows = () =>
  query<Record<string, unknown>>(
    given.store.fork(),
    'select id, status, status_info, contact_email from messages order by created_at, id',
    [],
  );
const requests = () => query(given.store.fork(), 'select email from confirmations', []);
/** Runs the second pass of deletions. */
async function runForgetting() {
  const jobs = await query<{ payload: unknown }>(
    given.store.fork(),
    `delete from messages_jobs._private_jobs j using messages_jobs._private_tasks t
     where t.id = j.task_id and t.identifier = 'forgetContacts' and j.run_at > now() + interval '30 seconds'
     returning payload`,
    [],
  );
  for (const { payload } of jobs) await forgetContacts(given.store)(payload);
}
/** Nothing of this may be left of a deleted contact. */
const traces = () =>
  query(
    given.store.fork(),
    `select 'messages' as place from messages where contact_email = $1
     union all select 'confirmations' from confirmations where email = $1
     union all select 'welcomes' from welcomes where email = $1`,
    [email],
  );

/** For each type what is done, what comes late, and what must be so afterwards. */
const cases: Record<string, () => Promise<void>> = {
  'contact.deleted': async () => {
    const batch = batchOf([email]);
    await given.sender.sendBatch(batch);
    await consume(deleted(hourAgo()));
    expect(await rows()).toMatchObject([{ status: 'sent', contact_email: email }]);
  },
  'confirmation.due': async () => {
    await consume(deleted(new Date()));
    await consume(due(hourAgo()));
    given.world.skipReasons.set(email, 'removed');
    await mailPending();
    expect(given.sink.total()).toBe(0);
    expect(await traces()).toEqual([]);
  },
  'welcome.due': async () => {
    given.world.welcome = { notificationId: await givenNotification(given) };
    given.world.activeSince.set(email, new Date());
    await consume(welcome(hourAgo()));
    await sendWelcomes(given.context)({ workspaceId, listId, isImport: false });
    expect(given.sink.total()).toBe(0);
    await consume(deleted(new Date()));
    expect(await traces()).toEqual([]);
  },
};

test('every consumed type has a case, and is one that contacts sends', () => {
  const sent = consumersOf('contacts').find(({ consumer }) => consumer === 'messages')?.types;
  expect(Object.keys(handlers).toSorted()).toEqual(sent?.toSorted());
  expect(Object.keys(cases).toSorted()).toEqual(Object.keys(handlers).toSorted());
});

test.each(Object.keys(handlers))('newer state stands when %s comes an hour late', (type) =>
  cases[type]?.(),
);

test.each([
  ['scheduled', { sendAt: timestampFromDate(new Date(Date.now() + 3_600_000)) }, 'deferred'],
  ['immediate', {}, 'sent'],
])('a %s message stays when the deletion before it comes late', async (_, over, status) => {
  const id = await givenNotification(given);
  await consume(deleted(hourAgo()));
  const deletedAt = new Date();
  const request = sendOf(id, { contact: { email }, externalId: crypto.randomUUID(), ...over });
  const { messageId } = await given.transactional.sendTransactional(request);
  await consume(deleted(deletedAt));
  await given.context.underway.drained(5_000);
  const [row] = await rows();
  expect(row).toMatchObject({ id: messageId, contact_email: email });
  await expect(given.messages.getMessage({ workspaceId, id: messageId })).resolves.toMatchObject({
    message: { status: status === 'deferred' ? 'queued' : status },
  });
});

test.each([
  [
    'transactional',
    (id: string) => given.transactional.sendTransactional(sendOf(id, { contact: { email } })),
  ],
  ['of a broadcast', () => given.sender.sendBatch(batchOf([email]))],
])(
  'a message %s that is written after the deletion came is forgotten, and a newer one is not',
  async (_, send) => {
    const id = await givenNotification(given);
    const asked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    given.world.resolving = () => {
      asked.resolve();
      return release.promise;
    };
    const sent = send(id);
    await asked.promise;
    // The time that is stored is later than the question by the way of the statement to the
    // database.
    await sleep(300);
    // Without a time it was now, which the second pass must still know.
    await consume(deleted(new Date()), { ...deleted(new Date()), occurredAt: undefined });
    given.world.resolving = undefined;
    release.resolve();
    await sent;
    await given.context.underway.drained(5_000);
    await given.sender.sendBatch(batchOf([email]));
    await runForgetting();
    expect((await rows()).map((row) => row.contact_email)).toEqual(['', email]);
  },
);

test('a deletion takes what is older and leaves what is newer, in one batch of any order', async () => {
  await given.sender.sendBatch(batchOf([email]));
  await query(
    given.store.fork(),
    `update messages set created_at = now() - interval '2 hours'`,
    [],
  );
  await given.sender.sendBatch(batchOf([email]));
  await consume(deleted(hourAgo()), deleted(new Date(Date.now() - 3 * 3_600_000)));
  expect((await rows()).map((row) => row.contact_email)).toEqual(['', email]);
});

test('one-click unsubscribing takes effect for a newsletter sent after the return', async () => {
  const batch = batchOf([email]);
  await given.sender.sendBatch(batch);
  await consume(deleted(hourAgo()));
  const id = broadcastMessageId(workspaceId, batch.broadcastId, email);
  const token = createTokenMaker(keyring)(workspaceId, id);
  await given.links.unsubscribeByLink({ workspaceId, token });
  expect(given.world.unsubscribed).toEqual([{ listId, email }]);
});

test('a message whose contact was asked about before the deletion is the deleted one', async () => {
  let deletedAt = new Date();
  given.world.resolving = async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    deletedAt = new Date();
    await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await given.sender.sendBatch(batchOf([email]));
  const id = await givenNotification(given);
  await consume(deleted(deletedAt));
  await given.transactional.sendTransactional(sendOf(id, { contact: { email } }));
  await given.context.underway.drained(5_000);
  await consume(deleted(deletedAt));
  expect(await traces()).toEqual([]);
});

test('a message that is tried again after the return is not the deleted one', async () => {
  given.sink.behaviour.replies = [{ step: 'rcpt', recipient: '^back', reply: '450 later' }];
  const batch = batchOf([email]);
  await given.sender.sendBatch(batch);
  await query(
    given.store.fork(),
    `update messages set created_at = now() - interval '2 hours', due_at = now()`,
    [],
  );
  given.sink.behaviour.replies = [];
  await given.sender.sendBatch(batch);
  await consume(deleted(hourAgo()));
  expect(await rows()).toMatchObject([{ status: 'sent', contact_email: email }]);
});

test('a message that finds its contact gone when it is tried again keeps neither address nor content', async () => {
  given.sink.behaviour.replies = [{ step: 'rcpt', recipient: '^back', reply: '450 later' }];
  const batch = batchOf([email]);
  await given.sender.sendBatch(batch);
  await query(given.store.fork(), 'update messages set due_at = now()', []);
  await query(
    given.store.fork(),
    `insert into message_contents (workspace_id, message_id, content, stored_at)
     select workspace_id, id, '', now() from messages`,
    [],
  );
  given.world.skipReasons.set(email, 'removed');
  await given.sender.sendBatch(batch);
  expect(await rows()).toMatchObject([{ status: 'skipped', status_info: 'removed' }]);
  expect(await traces()).toEqual([]);
  expect(await query(given.store.fork(), 'select 1 from message_contents', [])).toEqual([]);
});

test('a confirmation mail of a later subscription is sent when the deletion comes after its request', async () => {
  await consume(due(hourAgo()));
  await mailPending();
  // The deletion, then the return: its request comes first, within the cool-down.
  const deletedAt = new Date(Date.now() - 60_000);
  for (const change of ['confirmations set mailed_at', 'messages set consent_at']) {
    await query(given.store.fork(), `update ${change} = now() - interval '59 minutes'`, []);
  }
  await consume(due(new Date()));
  await mailPending();
  expect(given.sink.total()).toBe(1);
  await consume(deleted(deletedAt));
  await mailPending();
  expect(given.sink.total()).toBe(2);
  expect((await rows()).map((row) => row.contact_email)).toEqual(['', email]);
});

test('a confirmation mail that waits stays when the deletion before its request comes late', async () => {
  await consume(due(new Date()));
  await consume(deleted(hourAgo()));
  await mailPending();
  expect(given.sink.total()).toBe(1);
  expect(await requests()).toHaveLength(1);
});

test('a request that is too old for its deletion leaves nothing where no provider is set', async () => {
  given.world.marketingProvider = '';
  given.world.skipReasons.set(email, 'removed');
  const own = given.newProcess();
  await consume(deleted(new Date()));
  await consume(due(hourAgo()));
  await sendConfirmations(own.context)({ workspaceId, listId });
  own.context.admission.close();
  expect(await rows()).toMatchObject([{ status: 'failed' }]);
  expect(await traces()).toEqual([]);
});

test('a note that was written after the return stays when the deletion comes late', async () => {
  await query(given.store.fork(), 'delete from suppressions where email = $1', [email]);
  await given.suppressions.addSuppression({
    workspaceId,
    email,
    reason: 'complained',
    note: 'by phone',
  });
  await consume(deleted(hourAgo()));
  const notes = () =>
    query(given.store.fork(), 'select note from suppressions where email = $1', [email]);
  expect(await notes()).toEqual([{ note: 'by phone' }]);
  await consume(deleted(new Date()));
  expect(await notes()).toEqual([{ note: null }]);
});
