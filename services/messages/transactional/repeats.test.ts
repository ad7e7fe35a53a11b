import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { resetAfterEach, useService } from '../test/given.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';

const given = useService();
resetAfterEach(given);

const headersOf = (key: string) => ({ headers: { 'idempotency-key': key } });
const at = (email: string, over: object = {}) => ({ contact: { email }, ...over });
/** How often contacts was asked to write an address. */
const writesOf = (email: string) =>
  given.world.upserted.filter((each) => each.email === email).length;

test('a repeat by Idempotency-Key writes no contact', async () => {
  const id = await givenNotification(given);
  const email = `key-${id}@example.com`;
  const send = () => given.transactional.sendTransactional(sendOf(id, at(email)), headersOf(id));
  const first = await send();
  expect(await send()).toEqual(first);
  expect(writesOf(email)).toBe(1);
});

test('a repeat by external_id writes no contact, with and without a key of its own', async () => {
  const id = await givenNotification(given);
  const email = `external-${id}@example.com`;
  const request = () => sendOf(id, at(email, { externalId: `x-${id}` }));
  const { messageId } = await given.transactional.sendTransactional(request());
  for (const headers of [{}, headersOf(`a-${id}`), headersOf(`a-${id}`)]) {
    const repeat = await given.transactional.sendTransactional(request(), headers);
    expect(repeat).toMatchObject({ messageId, success: true });
  }
  expect(writesOf(email)).toBe(1);
});

test('repeats in a batch write no contact, and the others are accepted', async () => {
  const id = await givenNotification(given);
  const [old, fresh] = [`old-${id}@example.com`, `fresh-${id}@example.com`];
  const repeated = sendOf(id, at(old, { externalId: `y-${id}` }));
  const { messageId } = await given.transactional.sendTransactional(repeated);
  const notifications = [repeated.notification, sendOf(id, at(fresh)).notification];
  const batch = { workspaceId: 'w1', notifications };
  const { results } = await given.transactional.sendTransactionalBatch(batch);
  expect(results).toMatchObject([{ messageId, success: true }, { success: true }]);
  expect([writesOf(old), writesOf(fresh)]).toEqual([1, 1]);
});

test('a repeat of a batch by Idempotency-Key writes no contact', async () => {
  const id = await givenNotification(given);
  const email = `batch-${id}@example.com`;
  const batch = { workspaceId: 'w1', notifications: [sendOf(id, at(email)).notification] };
  const send = () => given.transactional.sendTransactionalBatch(batch, headersOf(id));
  const first = await send();
  expect(await send()).toEqual(first);
  expect(writesOf(email)).toBe(1);
});

test('another request with the same key writes no contact', async () => {
  const id = await givenNotification(given);
  const email = `other-${id}@example.com`;
  await given.transactional.sendTransactional(sendOf(id), headersOf(id));
  const other = given.transactional.sendTransactional(sendOf(id, at(email)), headersOf(id));
  await expect(other).rejects.toThrow('Idempotency-Key was used with another request');
  expect(writesOf(email)).toBe(0);
});

test('a message whose predecessor failed is accepted under its external_id, and writes its contact', async () => {
  const id = await givenNotification(given);
  const email = `again-${id}@example.com`;
  await given.context.underway.drained(10_000);
  given.sink.behaviour.replies = [{ step: 'dot', reply: '554 5.6.0 no', times: 1 }];
  const request = () => sendOf(id, at(email, { externalId: `z-${id}` }));
  const first = await given.transactional.sendTransactional(request());
  await given.context.underway.drained(10_000);
  const second = await given.transactional.sendTransactional(request());
  expect(second.messageId).not.toBe(first.messageId);
  expect(writesOf(email)).toBe(2);
}, 30_000);

test('only the first of repeats by external_id in one batch writes its contact', async () => {
  const id = await givenNotification(given);
  const emails = ['one', 'two', 'three'].map((name) => `${name}-${id}@example.com`);
  const notifications = emails.map(
    (email) => sendOf(id, at(email, { externalId: `w-${id}` })).notification,
  );
  const { results } = await given.transactional.sendTransactionalBatch({
    workspaceId: 'w1',
    notifications,
  });
  const [first] = results;
  expect(results).toMatchObject(emails.map(() => ({ messageId: first?.messageId, success: true })));
  expect(emails.map(writesOf)).toEqual([1, 0, 0]);
  const { message } = await given.messages.getMessage({
    workspaceId: 'w1',
    id: first?.messageId ?? '',
  });
  expect(message?.contactEmail).toBe(emails[0]);
});

test('only the first of repeats in a batch with an Idempotency-Key writes its contact', async () => {
  const id = await givenNotification(given);
  const emails = ['one', 'two'].map((name) => `${name}-${id}@example.com`);
  const notifications = emails.map(
    (email) => sendOf(id, at(email, { externalId: `v-${id}` })).notification,
  );
  const batch = { workspaceId: 'w1', notifications };
  const { results } = await given.transactional.sendTransactionalBatch(batch, headersOf(id));
  expect(results[1]?.messageId).toBe(results[0]?.messageId);
  expect(emails.map(writesOf)).toEqual([1, 0]);
});

test.each([
  ['external_id', (id: string) => ({ externalId: `u-${id}` }), () => ({})],
  [
    'external_id and keys of their own',
    (id: string) => ({ externalId: `u-${id}` }),
    (id: string, call: number) => headersOf(`${id}-${call}`),
  ],
  ['Idempotency-Key', () => ({}), (id: string) => headersOf(id)],
])('calls of one group with the same %s write their contact once', async (_, over, optionsOf) => {
  const id = await givenNotification(given);
  const release = Promise.withResolvers<void>();
  given.world.resolving = () => release.promise;
  const before = given.world.asked;
  const blocking = given.transactional.sendTransactional(sendOf(id));
  await until('a group is prepared', async () => given.world.asked > before);
  const email = `group-${id}@example.com`;
  const calls = Array.from({ length: 3 }, (_each, call) =>
    given.transactional.sendTransactional(sendOf(id, at(email, over(id))), optionsOf(id, call)),
  );
  await sleep(100);
  release.resolve();
  await blocking;
  const answers = await Promise.all(calls);
  expect(new Set(answers.map(({ messageId }) => messageId)).size).toBe(1);
  expect(answers).toMatchObject(answers.map(() => ({ success: true })));
  expect(writesOf(email)).toBe(1);
});

test('a repeat in a batch writes its contact where the message before it is not written', async () => {
  const id = await givenNotification(given);
  const [bad, good] = [`bad-${id}@example.com`, `good-${id}@example.com`];
  given.world.skipReasons.set(bad, 'no such field');
  const notifications = [bad, good, good].map(
    (email) => sendOf(id, at(email, { externalId: `t-${id}` })).notification,
  );
  const batch = { workspaceId: 'w1', notifications };
  const { results } = await given.transactional.sendTransactionalBatch(batch);
  expect(results).toMatchObject([{ success: false }, { success: true }, { success: true }]);
  expect(results[2]?.messageId).toBe(results[1]?.messageId);
  expect([writesOf(bad), writesOf(good)]).toEqual([1, 1]);
});

test('a repeat in a batch is sent where the address before it is suppressed', async () => {
  const id = await givenNotification(given);
  const [bounced, good] = [`bounced-${id}@example.com`, `fine-${id}@example.com`];
  await query(
    given.store.fork(),
    `insert into suppressions (workspace_id, email, reason, created_at)
     values ('w1', $1, 'bounced', now())`,
    [bounced],
  );
  const notifications = [bounced, good].map(
    (email) => sendOf(id, at(email, { externalId: `s-${id}` })).notification,
  );
  const batch = { workspaceId: 'w1', notifications };
  const { results } = await given.transactional.sendTransactionalBatch(batch);
  expect(results.map(({ success }) => success)).toEqual([false, true]);
  expect([writesOf(bounced), writesOf(good)]).toEqual([1, 1]);
});
