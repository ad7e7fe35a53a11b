import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type FeedServer, startFeedServer } from '../feed-server.ts';
import {
  act,
  draftOf,
  givenBroadcast,
  good,
  mailsTo,
  sendNow,
  untilStatus,
} from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import { shapeOf } from './shape.ts';

let global: FeedServer;
let recipient: FeedServer;
const stack = borrowedStack();
beforeAll(async () => {
  [global, recipient] = await Promise.all([startFeedServer(), startFeedServer()]);
}, 60_000);
beforeEach(() => {
  for (const server of [global, recipient]) {
    server.requests.length = 0;
    server.behaviour = (_, response) => response.end('{"title":"Sale"}');
  }
});
afterAll(() => Promise.all([global.close(), recipient.close()]));

const headers = [{ name: 'X-Key', value: 'secret' }];

/** A draft with both feeds. */
async function givenFed(recipients: number) {
  const given = await givenBroadcast(stack, recipients);
  const data_feed = {
    global_feed: { enabled: true, url: global.url, headers },
    recipient_feed: { enabled: true, url: recipient.url, headers },
  };
  const { broadcast } = good(
    await act(stack, 'update', given.id, { ...draftOf(stack, given), data_feed }),
  );
  return { ...given, broadcast };
}

const emailOf = ({ body }: FeedServer['requests'][number]) =>
  (body.contact as { email: string }).email;

test('a broadcast asks one feed when it starts and the other about each recipient', async () => {
  const { id, emails } = await givenFed(20);
  await sendNow(stack, id);
  await untilStatus(stack, id, 'sent');
  expect(global.requests).toMatchObject([{ headers: { 'x-key': 'secret' } }]);
  expect(recipient.requests.map(emailOf).sort()).toEqual([...emails].sort());
  expect(mailsTo(stack, emails)).toHaveLength(20);
}, 90_000);

test('a failing feed pauses the broadcast with the reason, and resume sends to everybody once', async () => {
  const { id, emails } = await givenFed(20);
  recipient.behaviour = (_, response) => response.writeHead(404).end();
  await sendNow(stack, id);
  const paused = await untilStatus(stack, id, 'paused');
  expect(paused.pause_reason).toBe('recipient feed failed: HTTP error 404: Not Found');
  expect(mailsTo(stack, emails)).toEqual([]);
  recipient.behaviour = (_, response) => response.end('{}');
  good(await act(stack, 'resume', id));
  await untilStatus(stack, id, 'sent');
  expect(global.requests).toHaveLength(1);
  expect(mailsTo(stack, emails)).toHaveLength(20);
}, 90_000);

test('broadcasts.refreshGlobalFeed, testRecipientFeed and the data_feed that get shows', async () => {
  const { id, emails, broadcast } = await givenFed(1);
  const feed = {
    enabled: 'boolean',
    url: 'string',
    headers: [{ name: 'string', value: 'string' }],
  };
  expect(shapeOf(broadcast.data_feed)).toEqual({ global_feed: feed, recipient_feed: feed });
  expect(JSON.stringify(broadcast)).not.toContain('secret');
  const { call, workspaceId } = stack;
  const key = { workspace_id: workspaceId, broadcast_id: id };
  const refreshed = await call('broadcasts.refreshGlobalFeed', { ...key, url: global.url });
  const data = { title: 'string', _success: 'boolean', _fetched_at: 'time' };
  const answer = { success: 'boolean', data, fetched_at: 'time' };
  expect([refreshed.status, shapeOf(refreshed.body)]).toEqual([200, answer]);
  const query = { workspace_id: workspaceId, id };
  const found = good(await call('broadcasts.get', undefined, { query })).broadcast;
  expect(found.data_feed).toMatchObject({
    global_feed_data: refreshed.body.data,
    global_feed_fetched_at: refreshed.body.fetched_at,
  });
  const asked = { ...key, url: recipient.url, contact_email: emails[0] };
  const tested = await call('broadcasts.testRecipientFeed', asked);
  expect([tested.status, shapeOf(tested.body)]).toEqual([
    200,
    { ...answer, contact_email: 'string' },
  ]);
  recipient.behaviour = (_, response) => response.writeHead(500).end();
  expect(await call('broadcasts.testRecipientFeed', asked)).toMatchObject({
    status: 200,
    body: {
      success: false,
      error: 'failed to fetch recipient feed: HTTP error 500: Internal Server Error',
      contact_email: emails[0],
    },
  });
}, 60_000);
