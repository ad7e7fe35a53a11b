import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { afterAll, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { resetAfterEach, useService } from '../test/given.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';

const workspaceId = 'w1';
const given = useService();
resetAfterEach(given);
let running: ReturnType<typeof given.newProcess> | undefined;
afterAll(async () => {
  await running?.context.transactional.stop();
  running?.context.admission.close();
});

function run() {
  if (running) return;
  running = given.newProcess();
  running.context.transactional.queue.start();
}

const inMs = (ms: number): Timestamp => timestampFromDate(new Date(Date.now() + ms));
const statusOf = async (id: string) =>
  (await given.messages.getMessage({ workspaceId, id })).message?.status;
const becomes = (id: string, status: string) =>
  until(`the message is ${status}`, async () => (await statusOf(id)) === status, {
    withinMs: 20_000,
  });
const expiryOf = async (id: string) => {
  const [row] = await query<{ seconds: number | null }>(
    given.store.fork(),
    `select round(extract(epoch from expires_at - now()))::int as seconds from message_requests where message_id = $1`,
    [id],
  );
  return row?.seconds;
};

test.each([
  ['away', { step: 'greeting', reply: '421 4.3.2 closed' }, ''],
  ['putting it off', { step: 'rcpt', reply: '450 4.2.0 later' }, ': 450 4.2.0 later'],
] as const)(
  'a message expires while the mail server is %s, and leaves no content',
  async (_, reply, words) => {
    const id = await givenNotification(given);
    given.sink.behaviour.replies = [reply];
    run();
    const email = `late-${id}@example.com`;
    const externalId = `code-${id}`;
    const request = () =>
      sendOf(id, {
        contact: { email },
        externalId,
        data: { code: '123456' },
        emailOptions: { attachments: [{ filename: 'a.txt', content: 'aGVsbG8=' }] },
        ttlSeconds: 2,
      });
    const { messageId } = await given.transactional.sendTransactional(request());
    await becomes(messageId, 'expired');
    const { message } = await given.messages.getMessage({ workspaceId, id: messageId });
    expect(message).toMatchObject({
      statusInfo: `not accepted by the mail server in time${words}`,
      contactEmail: email,
    });
    expect(message?.failedAt).toBeDefined();
    expect(message?.messageData).toBeUndefined();
    for (const table of ['message_requests', 'message_attachments']) {
      const sql = `select 1 from ${table} where message_id = $1`;
      expect(await query(given.store.fork(), sql, [messageId])).toEqual([]);
    }
    const listed = await given.messages.listMessages({
      workspaceId,
      status: 'expired',
      externalId,
    });
    expect(listed.messages.map((each) => each.id)).toEqual([messageId]);
    const retry = given.messages.retryMessage({ workspaceId, id: messageId });
    await expect(retry).rejects.toThrow('the time in which the message may be sent is over');
    given.sink.behaviour.replies = [];
    const again = await given.transactional.sendTransactional(request());
    expect(again.messageId).not.toBe(messageId);
    await becomes(again.messageId, 'sent');
    expect(given.sink.bodies(email)).toHaveLength(1);
  },
  60_000,
);

test('a message that the server accepts in time is sent', async () => {
  const id = await givenNotification(given);
  const request = sendOf(id, {
    contact: { email: `t-${id}@example.com` },
    expiresAt: inMs(60_000),
  });
  const { messageId } = await given.transactional.sendTransactional(request);
  await becomes(messageId, 'sent');
});

test('the time to live is that of the message, else of its notification, and begins at send_at', async () => {
  const id = await givenNotification(given);
  const update = { workspaceId, id, updates: { ttlSeconds: 600 } };
  const { notification } = await given.transactional.updateNotification(update);
  expect(notification?.ttlSeconds).toBe(600);
  const sendAt = inMs(3_600_000);
  const secondsOf = async (over: object) => {
    const { messageId } = await given.transactional.sendTransactional(
      sendOf(id, { contact: { email: `d-${id}@example.com` }, sendAt, ...over }),
    );
    return Math.round(((await expiryOf(messageId)) ?? 0) / 10) * 10;
  };
  expect(await secondsOf({})).toBe(4_200);
  expect(await secondsOf({ ttlSeconds: 60 })).toBe(3_660);
  expect(await secondsOf({ expiresAt: inMs(4_000_000) })).toBe(4_000);
  await given.transactional.updateNotification({ ...update, updates: { ttlSeconds: 0 } });
  expect(await secondsOf({})).toBe(0);
});

test('each message of a batch has its own time', async () => {
  const id = await givenNotification(given);
  const sendAt = inMs(3_600_000);
  const notifications = [{ ttlSeconds: 60 }, { ttlSeconds: 0 }, { expiresAt: inMs(-1) }].map(
    (over, n) => sendOf(id, { contact: { email: `m${n}-${id}@example.com` }, sendAt, ...over }),
  );
  const { results } = await given.transactional.sendTransactionalBatch({
    workspaceId,
    notifications: notifications.map(({ notification }) => notification),
  });
  expect(results).toMatchObject([
    { success: true },
    { success: false, error: 'ttl_seconds must be 1 to 86400' },
    { success: false, error: expect.stringContaining('expires_at must be in the future') },
  ]);
});

test.each([
  [{ ttlSeconds: 60, expiresAt: inMs(60_000) }, /must not be given together/],
  [{ ttlSeconds: 0 }, /ttl_seconds must be 1 to 86400/],
  [{ ttlSeconds: 86_401 }, /ttl_seconds must be 1 to 86400/],
  [{ expiresAt: inMs(-1_000) }, /expires_at must be in the future/],
  [{ expiresAt: inMs(32 * 86_400_000) }, /at most 31 days ahead/],
  [{ expiresAt: inMs(600_000), sendAt: inMs(900_000) }, /after send_at/],
])('send refuses the wrong time %#', async (over, text) => {
  const id = await givenNotification(given);
  await expect(given.transactional.sendTransactional(sendOf(id, over))).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringMatching(text),
  });
});

test.each([-1, 86_401])('a notification refuses a ttl_seconds of %i', async (ttlSeconds) => {
  const id = await givenNotification(given);
  const update = given.transactional.updateNotification({
    workspaceId,
    id,
    updates: { ttlSeconds },
  });
  await expect(update).rejects.toThrow('ttl_seconds must be 0 to 86400');
});
