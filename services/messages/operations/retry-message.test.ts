import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { BadRequestSchema } from '#gen/google/rpc/error_details_pb.ts';
import { MessageService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { memberWith, testTransport, userClaims } from '../../../test/setup/service.ts';
import { messagesRoutes } from '../service.ts';
import { useService } from '../test/given.ts';
import { attachment, givenMessage } from '../test/transactional.ts';

const given = useService();
const workspaceOf = () => crypto.randomUUID();
const at = new Date('2026-01-01T00:00:00Z');
const failed = {
  status: 'failed',
  failed_at: at,
  created_at: at,
  attempts: 27,
  unknown: 1,
  status_info: '450 later',
  request: { data: {} },
};
const bounced = { ...failed, bounced_at: at };

async function rowOf(id: string) {
  const [row] = await query<Record<string, unknown>>(
    given.store.fork(),
    `select m.status, m.attempts, m.unknown, m.failed_at, m.bounced_at, m.created_at = $2 as is_old, m.due_at <= now() as is_due,
       r.due_at <= now() as is_queued
     from messages m left join message_requests r on r.message_id = m.id where m.id = $1`,
    [id, at],
  );
  return row;
}

const queued = {
  ...{ status: 'deferred', attempts: 0, unknown: 0, failed_at: null, bounced_at: null },
  ...{ is_old: true, is_due: true, is_queued: true },
};

test('a failed message goes back into the queue under its id, once', async () => {
  const workspaceId = workspaceOf();
  const id = await givenMessage(given.store, { ...failed, workspace_id: workspaceId });
  expect(await given.messages.retryMessage({ workspaceId, id })).toMatchObject({ success: true });
  expect(await rowOf(id)).toEqual(queued);
  const { message } = await given.messages.getMessage({ workspaceId, id });
  expect(message).toMatchObject({ status: 'queued', statusInfo: '450 later' });
  await expect(given.messages.retryMessage({ workspaceId, id })).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: 'cannot retry a queued message',
  });
});

async function givenFile(workspaceId: string, id: string): Promise<void> {
  await query(
    given.store.fork(),
    `insert into message_attachments (workspace_id, message_id, place, content, erase_at)
     values ($1, $2, 0, 'abc', now() + interval '1 hour')`,
    [workspaceId, id],
  );
}

test('its files are kept until it is done again', async () => {
  const workspaceId = workspaceOf();
  const row = { ...failed, workspace_id: workspaceId, attachments: [attachment] };
  const id = await givenMessage(given.store, row);
  await givenFile(workspaceId, id);
  await given.messages.retryMessage({ workspaceId, id });
  const files = await query(
    given.store.fork(),
    'select erase_at from message_attachments where message_id = $1',
    [id],
  );
  expect(files).toEqual([{ erase_at: null }]);
});

test.each<[string, object]>([
  ['cannot retry a sent message', { ...failed, status: 'sent', sent_at: at, failed_at: null }],
  ['cannot retry a bounced message', { ...bounced, status: 'sent', sent_at: at, failed_at: null }],
  ['what the message is made from is gone', { ...failed, contact_email: '' }],
  ['cannot retry a sending message', { ...failed, status: 'sending', failed_at: null }],
  ['cannot retry a cancelled message', { ...failed, status: 'cancelled', failed_at: null }],
  [
    'only transactional messages can be retried',
    { ...failed, notification_id: null, broadcast_id: 'b' },
  ],
  ['the address bounced, and the notification does not send to such addresses', bounced],
  ['what the message is made from is gone', { ...failed, request: undefined }],
  ['the attachments of the message are gone', { ...failed, attachments: [attachment] }],
])('retry refuses: %s', async (rawMessage, columns) => {
  const workspaceId = workspaceOf();
  const id = await givenMessage(given.store, { ...columns, workspace_id: workspaceId });
  const before = await rowOf(id);
  await expect(given.messages.retryMessage({ workspaceId, id })).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage,
  });
  expect(await rowOf(id)).toEqual(before);
});

test('a bounced message is retried where its notification sends to bounced addresses', async () => {
  const workspaceId = workspaceOf();
  await given.transactional.createNotification({
    workspaceId,
    notification: {
      ...{ id: 'receipt', name: 'Receipt', sendToBounced: true },
      channels: { email: { templateId: 'receipt' } },
    },
  });
  const id = await givenMessage(given.store, { ...bounced, workspace_id: workspaceId });
  await given.messages.retryMessage({ workspaceId, id });
  expect(await rowOf(id)).toEqual(queued);
});

test('a message whose external_id was used again stays as it is', async () => {
  const workspaceId = workspaceOf();
  const row = { workspace_id: workspaceId, external_id: 'order-7' };
  const id = await givenMessage(given.store, { ...failed, ...row });
  await givenMessage(given.store, row);
  const before = await rowOf(id);
  const reason = await given.messages
    .retryMessage({ workspaceId, id })
    .catch((error: unknown) => error);
  const failure = ConnectError.from(reason);
  expect(failure).toMatchObject({
    code: Code.AlreadyExists,
    rawMessage: 'external_id was used again by another message',
  });
  expect(failure.findDetails(BadRequestSchema)).toMatchObject([
    { fieldViolations: [{ field: 'external_id' }] },
  ]);
  expect(await rowOf(id)).toEqual(before);
});

test('a message of another workspace, and an unknown one, are not found', async () => {
  const id = await givenMessage(given.store, { ...failed, workspace_id: workspaceOf() });
  for (const key of [
    { workspaceId: workspaceOf(), id },
    { workspaceId: 'w1', id: 'x' },
  ]) {
    await expect(given.messages.retryMessage(key)).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: 'Message not found',
    });
  }
});

test('one of several concurrent retries puts the message into the queue', async () => {
  const workspaceId = workspaceOf();
  const id = await givenMessage(given.store, { ...failed, workspace_id: workspaceId });
  const all = await Promise.allSettled(
    Array.from({ length: 8 }, () => given.messages.retryMessage({ workspaceId, id })),
  );
  expect(all.filter(({ status }) => status === 'fulfilled').length).toBe(1);
});

test('retry needs the right to send', async () => {
  const authorize = memberWith({ message_history: { read: true, write: true } });
  const transport = testTransport(messagesRoutes(given.context), { authorize });
  const reader = createClient(MessageService, transport(userClaims()));
  await expect(reader.retryMessage({ workspaceId: 'w1', id: 'x' })).rejects.toMatchObject({
    code: Code.PermissionDenied,
  });
});
