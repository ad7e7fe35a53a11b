import { Code } from '@connectrpc/connect';
import { beforeAll, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { batchOf, resetAfterEach, useService } from '../test/given.ts';
import { sendOf } from '../test/given-notification.ts';

const workspaceId = 'w1';
const given = useService();
resetAfterEach(given);
// On a busy machine a message may not be begun within its five seconds.
beforeAll(() => given.context.transactional.queue.start());

let count = 0;
async function givenTagged(tags: string[]) {
  count += 1;
  const id = `tagged-${count}`;
  const channels = { email: { templateId: 'receipt' } };
  const notification = { id, name: id, channels, tags };
  await given.transactional.createNotification({ workspaceId, notification });
  return id;
}
const tagsOf = async (id: string) => {
  const answer = await given.transactional.getNotification({ workspaceId, id });
  return answer.notification?.tags;
};
const update = (id: string, updates: object) =>
  given.transactional.updateNotification({ workspaceId, id, updates });
const send = async (id: string, over: Parameters<typeof sendOf>[1] = {}) =>
  (await given.transactional.sendTransactional(sendOf(id, over))).messageId;
const listed = async (filter: object) => {
  const { messages } = await given.messages.listMessages({ workspaceId, ...filter });
  return messages.map(({ id }) => id).toSorted();
};

test('a message has its tags and those of its notification, and is found by each', async () => {
  const id = await givenTagged(['shop:eu', 'receipt']);
  const both = await send(id, { tags: ['Urgent', 'receipt'] });
  const content = { subject: 'Hi', text: 'Hi' };
  const own = await send('', { tags: ['Urgent'], content });
  const none = await send('', { content });
  const { message } = await given.messages.getMessage({ workspaceId, id: both });
  expect(message?.tags).toEqual(['Urgent', 'receipt', 'shop:eu']);
  expect((await given.messages.getMessage({ workspaceId, id: none })).message?.tags).toEqual([]);
  expect(await listed({ tag: 'Urgent' })).toEqual([both, own].toSorted());
  expect(await listed({ tag: 'receipt', notificationId: id })).toEqual([both]);
  expect(await listed({ tag: 'urgent' })).toEqual([]);
  expect(
    (await given.messages.listMessages({ workspaceId: 'w2', tag: 'Urgent' })).messages,
  ).toEqual([]);
});

test('tags of a notification are replaced and removed, and those of accepted messages stay', async () => {
  const id = await givenTagged(['b', 'a', 'b']);
  expect(await tagsOf(id)).toEqual(['a', 'b']);
  const first = await send(id);
  await update(id, { description: 'x' });
  await update(id, { tags: ['c'] });
  expect(await tagsOf(id)).toEqual(['c']);
  await update(id, { clearTags: true });
  expect(await tagsOf(id)).toEqual([]);
  const second = await send(id);
  const found = await Promise.all(
    [first, second].map((each) => given.messages.getMessage({ workspaceId, id: each })),
  );
  expect(found.map(({ message }) => message?.tags)).toEqual([['a', 'b'], []]);
});

test('messages of a broadcast have its tags, also those that were put off or claimed again', async () => {
  given.sink.behaviour.replies = [{ step: 'rcpt', recipient: '^late@', reply: '450 4.2.0 later' }];
  const batch = batchOf(['now@example.com', 'late@example.com'], { tags: ['bulk', 'a'] });
  await given.sender.sendBatch(batch);
  await query(
    given.store.fork(),
    'update messages set due_at = now() where due_at is not null',
    [],
  );
  await given.sender.sendBatch(batch);
  await given.sender.sendBatch(batchOf(['plain@example.com']));
  const { messages } = await given.messages.listMessages({ workspaceId, tag: 'bulk' });
  expect(messages.map(({ contactEmail, tags }) => [contactEmail, tags]).toSorted()).toEqual([
    ['late@example.com', ['bulk', 'a']],
    ['now@example.com', ['bulk', 'a']],
  ]);
});

const many = Array.from({ length: 11 }, (_, index) => `t${index}`);
const form = 'a tag must be 1 to 64 letters, digits, dots, hyphens, underscores and colons';

test.each([
  [['a b'], form],
  [[''], form],
  [['é'], form],
  [['a,b'], form],
  [['x'.repeat(65)], form],
  [many, 'tags must have at most 10 items'],
])('tags that are wrong are refused: %j', async (tags, text) => {
  const refused = { code: Code.InvalidArgument, rawMessage: text };
  const content = { subject: 'Hi', text: 'Hi' };
  await expect(send('', { tags, content })).rejects.toMatchObject(refused);
  await expect(givenTagged(tags)).rejects.toMatchObject(refused);
  const id = await givenTagged([]);
  await expect(update(id, { tags })).rejects.toMatchObject(refused);
});

test('a message whose tags are too many with those of its notification is refused, and no other', async () => {
  const id = await givenTagged(many.slice(0, 8));
  const { results } = await given.transactional.sendTransactionalBatch({
    workspaceId,
    notifications: [
      sendOf(id, { tags: ['a', 'b', 'c'] }).notification,
      sendOf(id, { tags: ['a', 'b', 't1'] }).notification,
    ],
  });
  expect(results.map(({ success, error }) => [success, error])).toEqual([
    [false, 'tags must have at most 10 items with those of the notification'],
    [true, undefined],
  ]);
  await expect(update(id, { tags: ['a'], clearTags: true })).rejects.toMatchObject({
    rawMessage: 'clear_tags and tags must not be given together',
  });
});
