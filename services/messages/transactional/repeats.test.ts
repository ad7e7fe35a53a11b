import { expect, test } from '@jest/globals';
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
  given.sink.behaviour.replies = [{ step: 'dot', reply: '554 5.6.0 no', times: 1 }];
  const request = () => sendOf(id, at(email, { externalId: `z-${id}` }));
  const first = await given.transactional.sendTransactional(request());
  await given.context.underway.drained(10_000);
  const second = await given.transactional.sendTransactional(request());
  expect(second.messageId).not.toBe(first.messageId);
  expect(writesOf(email)).toBe(2);
}, 30_000);
