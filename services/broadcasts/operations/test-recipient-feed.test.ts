import { Code, createClient } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { useFeedServer } from '../../../test/feed-server.ts';
import { memberWith, testTransport, userClaims } from '../../../test/setup/service.ts';
import { broadcastsRoutes } from '../service.ts';
import { givenBroadcast, givenHeader, newId, useService } from '../test/given.ts';

const given = useService();
const server = useFeedServer('{"items":[]}');

type Over = { contactEmail?: string; url?: string; headers?: { name: string; value: string }[] };
const ask = async (over: Over = {}, client = given.client) => {
  const { workspaceId, id: broadcastId } = await givenBroadcast(given);
  return client.testRecipientFeed({ workspaceId, broadcastId, url: server.url, ...over });
};

test('without a contact the feed gets a sample', async () => {
  expect(await ask()).toMatchObject({
    success: true,
    data: { items: [], _success: true },
    contactEmail: 'sample@example.com',
  });
  expect(server.requests).toMatchObject([
    {
      body: {
        contact: { email: 'sample@example.com', first_name: 'Sample', last_name: 'Contact' },
        broadcast: { name: 'Hello' },
        list: { id: 'news', name: 'News' },
        workspace: { id: 'acme', name: 'Acme' },
      },
    },
  ]);
});

test('with a contact the feed gets its fields without lists and segments', async () => {
  expect(await ask({ contactEmail: 'a@example.com' })).toMatchObject({
    success: true,
    contactEmail: 'a@example.com',
  });
  expect(server.requests[0]?.body.contact).toEqual({
    email: 'a@example.com',
    first_name: 'Ada',
    custom_json_1: { a: [1] },
  });
});

test('a deleted list has no name', async () => {
  const { workspaceId, id: broadcastId } = await givenBroadcast(given);
  await given.client.updateBroadcast({
    workspaceId,
    id: broadcastId,
    name: 'Hello',
    audience: { list: 'missing' },
    testSettings: { variations: [{ templateId: 'hello' }] },
  });
  await given.client.testRecipientFeed({ workspaceId, broadcastId, url: server.url });
  expect(server.requests[0]?.body.list).toEqual({ id: 'missing', name: '' });
});

test('a failing feed is reported, and asked only once', async () => {
  server.behaviour = (_, response) => response.writeHead(503).end();
  const answer = await ask();
  expect(answer).toMatchObject({
    success: false,
    error: 'failed to fetch recipient feed: HTTP error 503: Service Unavailable',
    contactEmail: 'sample@example.com',
  });
  expect(answer.data).toBeUndefined();
  expect(server.requests.length).toBe(1);
});

test("a header without a value takes the recipient feed's own", async () => {
  const id = newId();
  const headers = [givenHeader(id, 'recipient')];
  const recipient_feed = { enabled: true, url: server.url, headers };
  const key = await givenBroadcast(given, { id, data_feed: { recipient_feed } });
  await given.client.testRecipientFeed({
    workspaceId: key.workspaceId,
    broadcastId: key.id,
    url: server.url,
    headers: [{ name: 'X-Key', value: '' }],
  });
  expect(server.requests[0]?.headers['x-key']).toBe('secret');
});

test('an unknown contact is NOT_FOUND', async () => {
  await expect(ask({ contactEmail: 'nobody@example.com' })).rejects.toMatchObject({
    code: Code.NotFound,
    rawMessage: 'Contact not found',
  });
  expect(server.requests).toEqual([]);
});

test('an unknown broadcast is NOT_FOUND', async () => {
  const unknown = { workspaceId: 'acme', broadcastId: 'unknown', url: server.url };
  await expect(given.client.testRecipientFeed(unknown)).rejects.toMatchObject({
    code: Code.NotFound,
    rawMessage: 'Broadcast not found',
  });
});

test.each([
  [{ url: '' }, 'url is required'],
  [{ url: 'http://feeds.example.com/' }, 'url: URL must use https scheme'],
  [{ headers: [{ name: 'X-Key', value: '' }] }, 'header value is required'],
])('a recipient feed with %j is refused', async (over, text) => {
  await expect(ask(over)).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage: text });
});

test('a caller without read access to contacts may test with the sample only', async () => {
  const authorize = memberWith({ broadcasts: { read: true, write: true } });
  const transport = testTransport(broadcastsRoutes(given.context), { authorize });
  const client = createClient(BroadcastService, transport(userClaims()));
  expect((await ask({}, client)).success).toBe(true);
  await expect(ask({ contactEmail: 'a@example.com' }, client)).rejects.toMatchObject({
    code: Code.PermissionDenied,
  });
});
