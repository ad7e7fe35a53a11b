import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { resetAfterEach, useService } from '../test/given.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';

const workspaceId = 'w1';
const given = useService();
resetAfterEach(given);

let running: ReturnType<typeof given.newProcess>;
beforeAll(() => {
  running = given.newProcess();
  running.context.transactional.queue.start();
});
afterAll(async () => {
  await running.context.transactional.stop();
  running.context.admission.close();
});

async function stateOf(id: string): Promise<string | undefined> {
  return (await given.messages.getMessage({ workspaceId, id })).message?.status;
}

const becomes = (id: string, status: string) =>
  until(`the message is ${status}`, async () => (await stateOf(id)) === status, {
    withinMs: 15_000,
  });

/** A message that failed, two days after it was accepted. */
async function givenFailure(reply: string, email: string) {
  const notification = await givenNotification(given);
  given.sink.behaviour.replies = [{ step: 'rcpt', recipient: `^${email}`, reply }];
  const request = sendOf(notification, { contact: { email } });
  const { messageId: id } = await given.transactional.sendTransactional(request);
  await until('it has failed', async () => /failed|bounced/.test((await stateOf(id)) ?? ''), {
    withinMs: 15_000,
  });
  await query(
    given.store.fork(),
    `update messages set created_at = now() - interval '2 days', failed_at = now() - interval '1 day' where id = $1`,
    [id],
  );
  return { notification, id };
}

test('a message that failed two days ago is sent, with what it was accepted with', async () => {
  const { id } = await givenFailure('550 5.7.1 not today', 'late@example.com');
  given.sink.behaviour.replies = [];
  await given.messages.retryMessage({ workspaceId, id });
  await becomes(id, 'sent');
  expect(given.sink.bodies('late@example.com').length).toBe(1);
});

test('a message goes through the integration that its notification names, also when it is retried', async () => {
  const integrationOf = async (id: string) => {
    const statement = 'select integration_id from messages where id = $1';
    const [row] = await query<{ integration_id: string }>(given.store.fork(), statement, [id]);
    return row?.integration_id;
  };
  const { notification, id } = await givenFailure('550 5.7.1 not today', 'own@example.com');
  expect(await integrationOf(id)).toBe('smtp-1');
  const updates = { integrationId: 'smtp-2' };
  await given.transactional.updateNotification({ workspaceId, id: notification, updates });
  given.sink.behaviour.replies = [];
  const retried = await given.messages.retryMessage({ workspaceId, id });
  expect(retried.integrationId).toBe('smtp-2');
  const request = sendOf(notification, { contact: { email: 'own-too@example.com' } });
  const { messageId } = await given.transactional.sendTransactional(request);
  expect(await integrationOf(messageId)).toBe('smtp-2');
  await becomes(id, 'sent');
});

test('a queued or retried message whose integration is deleted goes through the one that the settings name', async () => {
  const notification = await givenNotification(given);
  const queue = async (email: string) => {
    const sendAt = timestampFromDate(new Date(Date.now() + 60_000));
    const request = sendOf(notification, { contact: { email }, sendAt });
    const { messageId } = await given.transactional.sendTransactional(request);
    const bind = `with bound as (update messages set integration_id = 'deleted', due_at = now() where id = $1)
      update message_requests set due_at = now() where message_id = $1`;
    await query(given.store.fork(), bind, [messageId]);
    return messageId;
  };
  const id = await queue('moved@example.com');
  await becomes(id, 'sent');
  const { message } = await given.messages.getMessage({ workspaceId, id });
  expect(message).toMatchObject({ status: 'sent' });
  const failure = await givenFailure('550 5.7.1 not today', 'moved-late@example.com');
  given.sink.behaviour.replies = [];
  await query(given.store.fork(), "update messages set integration_id = 'deleted' where id = $1", [
    failure.id,
  ]);
  const retried = await given.messages.retryMessage({ workspaceId, id: failure.id });
  expect(retried).toMatchObject({ success: true, integrationId: 'smtp-1' });
  await becomes(failure.id, 'sent');
});

test('a message that waits for its send_at goes out after its notification is deleted', async () => {
  const notification = await givenNotification(given);
  const sendAt = timestampFromDate(new Date(Date.now() + 60_000));
  const request = sendOf(notification, { contact: { email: 'kept@example.com' }, sendAt });
  const { messageId: id } = await given.transactional.sendTransactional(request);
  await given.transactional.deleteNotification({ workspaceId, id: notification });
  const due = `with due as (update messages set due_at = now() where id = $1)
    update message_requests set due_at = now() where message_id = $1`;
  await query(given.store.fork(), due, [id]);
  await becomes(id, 'sent');
  expect(given.sink.bodies('kept@example.com').length).toBe(1);
});

test('a retried message that is deferred is tried again for a day', async () => {
  const { id } = await givenFailure('550 5.7.1 not today', 'slow@example.com');
  const reply = '451 4.3.0 later';
  given.sink.behaviour.replies = [{ step: 'rcpt', recipient: '^slow@example.com', reply }];
  await given.messages.retryMessage({ workspaceId, id });
  await becomes(id, 'deferred');
});

test('an address that bounced gets a retried message if the notification sends to such by now', async () => {
  const { id, notification } = await givenFailure('550 5.1.1 no such user', 'dead@example.com');
  expect(await stateOf(id)).toBe('bounced');
  given.sink.behaviour.replies = [];
  const text = 'the address bounced, and the notification does not send to such addresses';
  await expect(given.messages.retryMessage({ workspaceId, id })).rejects.toThrow(text);
  await given.transactional.updateNotification({
    workspaceId,
    id: notification,
    updates: { sendToBounced: true },
  });
  await given.messages.retryMessage({ workspaceId, id });
  await becomes(id, 'sent');
});
