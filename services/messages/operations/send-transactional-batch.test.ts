import { Code } from '@connectrpc/connect';
import { beforeAll, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { resetAfterEach, useService } from '../test/given.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';

const workspaceId = 'w1';
const given = useService();
resetAfterEach(given);
// On a busy machine a message may not be begun within its five seconds.
beforeAll(() => given.context.transactional.queue.start());

const to = (id: string, email: string, over = {}) =>
  sendOf(id, { contact: { email }, ...over }).notification;

test('sendBatch answers each message by itself, in the order of the request', async () => {
  const id = await givenNotification(given);
  given.world.skipReasons.set('mars@example.com', 'invalid timezone: Mars');
  const notifications = [
    to(id, 'a@example.com'),
    to(id, 'no address'),
    to('nothing', 'b@example.com'),
    to(id, 'mars@example.com'),
    to(id, 'c@example.com', { externalId: `twice-${id}` }),
    to(id, 'd@example.com', { externalId: `twice-${id}` }),
  ];
  const { results } = await given.transactional.sendTransactionalBatch({
    workspaceId,
    notifications,
  });
  expect(results.map(({ success, error }) => error ?? success)).toEqual([
    true,
    'notification.contact is invalid: contact.email must be one email address',
    'Notification not found',
    'invalid contact: invalid timezone: Mars',
    true,
    true,
  ]);
  expect(results[5]?.messageId).toBe(results[4]?.messageId);
  await until('both arrive', async () => given.sink.total() === 2);
});

test('messages of a batch to one address are each rendered with the contact as it was then', async () => {
  const id = await givenNotification(given);
  const names = ['Ann', 'Anna', 'Annie'];
  const contacts = names.map((firstName) => ({ email: 'a@example.com', firstName }));
  const notifications = contacts.map((contact) => sendOf(id, { contact }).notification);
  await given.transactional.sendTransactionalBatch({ workspaceId, notifications });
  await until('all arrive', async () => given.sink.total() === 3);
  const subjects = given.sink.bodies().map((body) => /^Subject: Hello (.*)\r$/m.exec(body)?.[1]);
  expect(subjects.toSorted()).toEqual(names);
});

test('an id that no database can look up refuses its own message, and no other of the same group', async () => {
  const id = await givenNotification(given);
  const notifications = [to(id, 'good@example.com'), to('a\0b', 'bad@example.com')];
  const { results } = await given.transactional.sendTransactionalBatch({
    workspaceId,
    notifications,
  });
  expect(results).toMatchObject([
    { success: true },
    { success: false, error: expect.stringMatching(/^notification.id must be 1 to 32 letters/) },
  ]);
  await until('the good one arrives', async () => given.sink.total() === 1);
});

test('sendBatch takes 1 to 500 messages', async () => {
  const id = await givenNotification(given);
  const notifications = Array.from({ length: 501 }, (_, n) => to(id, `p${n}@example.com`));
  for (const some of [[], notifications]) {
    await expect(
      given.transactional.sendTransactionalBatch({ workspaceId, notifications: some }),
    ).rejects.toMatchObject({ code: Code.InvalidArgument });
  }
  const { results } = await given.transactional.sendTransactionalBatch({
    workspaceId,
    notifications: notifications.slice(1),
  });
  expect(results.filter(({ success }) => success)).toHaveLength(500);
  await until('all arrive', async () => given.sink.total() === 500);
});

test('a repeat with the same Idempotency-Key gets the first answer and sends nothing', async () => {
  const id = await givenNotification(given);
  const process = given.newProcess();
  process.context.transactional.queue.start();
  const headers = { 'idempotency-key': `key-${id}` };
  const request = sendOf(id, { contact: { email: 'once@example.com' } });
  const first = await process.transactional.sendTransactional(request, { headers });
  expect(await process.transactional.sendTransactional(request, { headers })).toEqual(first);
  const other = sendOf(id, { contact: { email: 'other@example.com' } });
  await expect(process.transactional.sendTransactional(other, { headers })).rejects.toMatchObject({
    code: Code.AlreadyExists,
  });
  await until('it arrives', async () => given.sink.bodies('once@example.com').length > 0);
  const rows = await query(
    given.store.fork(),
    'select 1 from messages where notification_id = $1',
    [id],
  );
  expect(rows).toHaveLength(1);
  await process.context.transactional.stop();
});
