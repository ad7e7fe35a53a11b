import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { beforeAll, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { keyring } from '../../../test/setup/service.ts';
import { createTokenMaker } from '../links/token.ts';
import { broadcastMessageId } from '../message.ts';
import { batchOf, people, useService } from '../test/given.ts';

const given = useService();
let batch: ReturnType<typeof batchOf>;
beforeAll(async () => {
  given.sink.behaviour.replies = [
    { step: 'rcpt', recipient: '^p1@', reply: '550 5.1.1 no such user' },
    { step: 'rcpt', recipient: '^p2@', reply: '450 later' },
  ];
  given.world.skipReasons.set('p3@example.com', 'unsubscribed');
  batch = batchOf(people(25));
  await given.sender.sendBatch(batch);
});

test('list pages through all messages, newest first', async () => {
  const { workspaceId } = batch;
  const ids: string[] = [];
  let cursor = '';
  for (;;) {
    const page = await given.messages.listMessages({ workspaceId, cursor, limit: 7 });
    ids.push(...page.messages.map(({ id }) => id));
    expect(page.hasMore).toBe(page.nextCursor !== undefined);
    if (!page.nextCursor) break;
    cursor = page.nextCursor;
  }
  expect(ids.length).toBe(25);
  expect(new Set(ids).size).toBe(25);
});

test.each([
  [{ contactEmail: ' P1@Example.com ' }, 1],
  [{ isFailed: true }, 1],
  [{ isBounced: true }, 1],
  [{ isSent: true }, 22],
  [{ isSent: false }, 3],
  [{ listId: 'weekly', isOpened: false }, 25],
  [{ listId: 'other' }, 0],
  [{ id: 'not-a-uuid' }, 0],
  [{ externalId: 'x' }, 0],
  [{ channel: 'email' }, 25],
  [{ sentAfter: timestampFromDate(new Date(Date.now() + 60_000)) }, 0],
  [{ updatedBefore: timestampFromDate(new Date(Date.now() + 60_000)) }, 25],
])('list filters by %j', async (filter, count) => {
  const { messages } = await given.messages.listMessages({
    workspaceId: 'w1',
    limit: 100,
    ...filter,
  });
  expect(messages.length).toBe(count);
});

test('list shows no message of another workspace', async () => {
  const { messages, hasMore } = await given.messages.listMessages({ workspaceId: 'w2' });
  expect({ messages, hasMore }).toEqual({ messages: [], hasMore: false });
});

function cursorOf(time: string, id = '3f0c1a52-0000-4000-8000-000000000000') {
  return Buffer.from(`${time}~${id}`).toString('base64url');
}

test.each([
  [{ cursor: 'garbage' }, 'invalid cursor'],
  [{ cursor: cursorOf('2026-02-31T00:00:00.000000Z') }, 'invalid cursor'],
  [{ cursor: cursorOf('0000-01-01T00:00:00.000000Z') }, 'invalid cursor'],
  [{ cursor: cursorOf('2026-01-01T00:00:00.000000Z', 'x') }, 'invalid cursor'],
  [{ channel: 'sms' }, 'invalid channel type: sms'],
  [{ contactEmail: 'nobody' }, 'invalid contact email format'],
  [{ limit: 1_001 }, 'limit must be between 1 and 1000'],
  [
    {
      sentAfter: timestampFromDate(new Date('2026-01-02')),
      sentBefore: timestampFromDate(new Date('2026-01-01')),
    },
    'sent_after must be before sent_before',
  ],
])('list refuses %j', async (filter, rawMessage) => {
  await expect(given.messages.listMessages({ workspaceId: 'w1', ...filter })).rejects.toMatchObject(
    {
      code: Code.InvalidArgument,
      rawMessage,
    },
  );
});

test('broadcastStats counts messages by outcome', async () => {
  const { workspaceId, broadcastId } = batch;
  const { stats } = await given.messages.getBroadcastStats({ workspaceId, broadcastId });
  expect(stats).toMatchObject({
    totalSent: 22,
    totalFailed: 1,
    totalBounced: 1,
    totalSkipped: 1,
    totalDeferred: 1,
    totalUnknown: 0,
  });
});

test('broadcastStats of an unknown broadcast is zeros', async () => {
  const { stats } = await given.messages.getBroadcastStats({
    workspaceId: 'w1',
    broadcastId: 'none',
  });
  expect(stats).toMatchObject({ totalSent: 0, totalSkipped: 0 });
});

test('unsubscribeByLink unsubscribes the recipient from the list, also twice', async () => {
  const { workspaceId, broadcastId } = batch;
  const id = broadcastMessageId(workspaceId, broadcastId, 'p0@example.com');
  const token = createTokenMaker(keyring)(workspaceId, id);
  expect(given.sink.bodies().join('')).toContain(`<https://mail.example/u/w1/${token}>`);
  await given.links.unsubscribeByLink({ workspaceId, token });
  await given.links.unsubscribeByLink({ workspaceId, token });
  expect(given.world.unsubscribed).toEqual(
    Array(2).fill({ listId: 'weekly', email: 'p0@example.com' }),
  );
  const [row] = await query<{ unsubscribed_at: string | null }>(
    given.store.fork(),
    'select unsubscribed_at from messages where id = $1',
    [id],
  );
  expect(row?.unsubscribed_at).not.toBeNull();
});

test.each(['sentAfter', 'sentBefore', 'updatedAfter', 'updatedBefore'])(
  'a %s that no calendar has is refused',
  async (name) => {
    const { workspaceId } = batch;
    for (const seconds of [253_402_300_800n, -62_135_596_801n, 10n ** 15n]) {
      const request = { workspaceId, [name]: { seconds } };
      await expect(given.messages.listMessages(request)).rejects.toMatchObject({
        code: Code.InvalidArgument,
        rawMessage: expect.stringContaining('must lie in the years 1 to 9999'),
      });
    }
  },
);
