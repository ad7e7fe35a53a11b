import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { useService } from '../test/given.ts';
import { attachment, givenMessage } from '../test/transactional.ts';

const given = useService();
const workspaceOf = () => crypto.randomUUID();

async function listed(filter: Parameters<typeof given.messages.listMessages>[0]) {
  const { messages } = await given.messages.listMessages(filter);
  return messages;
}

test('list shows what a transactional message was made from', async () => {
  const workspaceId = workspaceOf();
  const options = { from_name: 'Shop', cc: ['boss@example.com'], headers: { 'X-Order': '7' } };
  const request = { data: { order: '7' }, metadata: { source: 'web' }, options, language: 'en' };
  const id = await givenMessage(given.store, {
    workspace_id: workspaceId,
    request,
    attachments: [attachment],
  });
  const [message] = await listed({ workspaceId, notificationId: 'receipt' });
  expect(message).toMatchObject({
    id,
    transactionalNotificationId: 'receipt',
    templateVersion: 3,
    messageData: { data: { order: '7' }, metadata: { source: 'web' } },
    channelOptions: { fromName: 'Shop', cc: ['boss@example.com'], headers: { 'X-Order': '7' } },
    attachments: [
      {
        filename: 'receipt.pdf',
        contentType: 'application/pdf',
        sizeBytes: 3,
        checksum: attachment.checksum,
      },
    ],
  });
  expect(message?.channelOptions?.subject).toBeUndefined();
});

test('list shows no options where nothing differed from the template', async () => {
  const workspaceId = workspaceOf();
  const options = { from_name: '', cc: [], headers: {} };
  await givenMessage(given.store, { workspace_id: workspaceId, request: { data: {}, options } });
  const [message] = await listed({ workspaceId });
  expect(message).toMatchObject({ messageData: { data: {} }, attachments: [] });
  expect(message?.channelOptions).toBeUndefined();
});

test('list shows a message whose values are gone', async () => {
  const workspaceId = workspaceOf();
  await givenMessage(given.store, { workspace_id: workspaceId });
  const [message] = await listed({ workspaceId });
  expect(message?.transactionalNotificationId).toBe('receipt');
  expect(message?.messageData).toBeUndefined();
});

test('a page whose values are large ends early, and the next one goes on', async () => {
  const workspaceId = workspaceOf();
  const data = { text: 'x'.repeat(256 * 1024) };
  for (let count = 0; count < 12; count += 1) {
    await givenMessage(given.store, { workspace_id: workspaceId, request: { data } });
  }
  const first = await given.messages.listMessages({ workspaceId, limit: 100 });
  expect(first.messages.length).toBe(7);
  const second = await given.messages.listMessages({
    workspaceId,
    limit: 100,
    cursor: first.nextCursor ?? '',
  });
  expect(second.hasMore).toBe(false);
  expect(second.nextCursor).toBeUndefined();
  const ids = [...first.messages, ...second.messages].map(({ id }) => id);
  expect(new Set(ids).size).toBe(12);
  expect(second.messages.every(({ messageData }) => messageData?.data)).toBe(true);
});

const at = new Date();
test.each<[string, Record<string, unknown>]>([
  ['queued', { status: 'deferred', attempts: 0, due_at: at }],
  ['sending', { status: 'sending' }],
  ['sent', { status: 'sent', sent_at: at }],
  ['delivered', { status: 'sent', sent_at: at, delivered_at: at }],
  ['deferred', { status: 'deferred', attempts: 2, due_at: at }],
  ['failed', { status: 'failed', failed_at: at }],
  ['bounced', { status: 'failed', failed_at: at, bounced_at: at }],
  ['bounced', { status: 'sent', sent_at: at, bounced_at: at }],
  ['complained', { status: 'sent', sent_at: at, delivered_at: at, complained_at: at }],
  ['skipped', { status: 'skipped' }],
  ['cancelled', { status: 'cancelled' }],
])('a message is %s, and found by that: %j', async (status, columns) => {
  const workspaceId = workspaceOf();
  await givenMessage(given.store, { ...columns, workspace_id: workspaceId, status_info: 'words' });
  const others = status === 'sent' ? 'skipped' : 'sent';
  expect(await listed({ workspaceId, status })).toMatchObject([{ status, statusInfo: 'words' }]);
  expect(await listed({ workspaceId, status: others })).toEqual([]);
  const isSent = 'sent_at' in columns;
  expect((await listed({ workspaceId, isSent })).length).toBe(1);
  expect(await listed({ workspaceId, isSent: !isSent })).toEqual([]);
});

test('list refuses a state that no message has', async () => {
  await expect(listed({ workspaceId: 'w1', status: 'opened' })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'invalid status: opened',
  });
});

const addresses = [
  'ann@a.example',
  'ann@b.example',
  'ann_@a.example',
  'anne@a.example',
  'bob@a.example',
];

test.each<[string, string[]]>([
  ['ANN@', ['ann@a.example', 'ann@b.example']],
  [' ann', ['ann@a.example', 'ann@b.example', 'ann_@a.example', 'anne@a.example']],
  ['ann_', ['ann_@a.example']],
  ['an%', []],
  ['c', []],
])('list finds addresses that begin with %j, in their order', async (contactEmailPrefix, found) => {
  const workspaceId = workspaceOf();
  for (const email of addresses.toReversed()) {
    await givenMessage(given.store, { workspace_id: workspaceId, contact_email: email });
  }
  await givenMessage(given.store, { workspace_id: workspaceOf(), contact_email: 'ann@a.example' });
  const messages = await listed({ workspaceId, contactEmailPrefix });
  expect(messages.map(({ contactEmail }) => contactEmail)).toEqual(found);
});

test('a cursor belongs to its order', async () => {
  const workspaceId = workspaceOf();
  for (const email of ['ann@a.example', 'ann@a.example', 'anne@a.example']) {
    await givenMessage(given.store, { workspace_id: workspaceId, contact_email: email });
  }
  const cursorOf = async (filter: object) =>
    (await given.messages.listMessages({ workspaceId, limit: 1, ...filter })).nextCursor ?? '';
  const byAddress = await cursorOf({ contactEmailPrefix: 'ann' });
  const rest = await listed({ workspaceId, contactEmailPrefix: 'ann', cursor: byAddress });
  expect(rest.map(({ contactEmail }) => contactEmail)).toEqual(['ann@a.example', 'anne@a.example']);
  const wrong = [
    { cursor: byAddress },
    { cursor: byAddress, contactEmailPrefix: 'bob' },
    { cursor: await cursorOf({}), contactEmailPrefix: 'ann' },
  ];
  for (const request of wrong) {
    await expect(listed({ workspaceId, ...request })).rejects.toMatchObject({
      rawMessage: 'invalid cursor',
    });
  }
});

test('a page has up to 1,000 messages', async () => {
  const workspaceId = workspaceOf();
  await query(
    given.store.fork(),
    `insert into messages (workspace_id, id, contact_email, template_id, template_version, integration_id, status, attempts,
       created_at, updated_at)
     select $1, gen_random_uuid(), 'a' || n || '@example.com', 't', 1, 'i', 'sent', 1, now(), now()
     from generate_series(1, 1001) n`,
    [workspaceId],
  );
  const { messages, hasMore } = await given.messages.listMessages({ workspaceId, limit: 1_000 });
  expect([messages.length, hasMore]).toEqual([1_000, true]);
  const tooMany = given.messages.listMessages({ workspaceId, limit: 1_001 });
  await expect(tooMany).rejects.toThrow('limit must be between 1 and 1000');
});
