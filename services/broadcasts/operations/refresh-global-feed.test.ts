import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { createEgress } from '#lib/outside/egress.ts';
import { startFeedServer, useFeedServer } from '../../../test/feed-server.ts';
import { givenBroadcast, givenHeader, givenService, newId, useService } from '../test/given.ts';

const given = useService();
const server = useFeedServer('{"title":"Sale"}');

type Key = { workspaceId: string; id: string };
const feedOf = async (key: Key) => (await given.client.getBroadcast(key)).broadcast?.dataFeed;
const refresh = (
  { workspaceId, id: broadcastId }: Key,
  over: { url?: string; headers?: { name: string; value: string }[] } = {},
) => given.client.refreshGlobalFeed({ workspaceId, broadcastId, url: server.url, ...over });

test('a refresh sends the broadcast to the feed, and answers and stores its data', async () => {
  const key = await givenBroadcast(given);
  const answer = await refresh(key, { headers: [{ name: 'X-Key', value: 'secret' }] });
  expect(server.requests).toMatchObject([
    {
      headers: { 'x-key': 'secret' },
      body: {
        broadcast: { id: key.id, name: 'Hello' },
        list: { id: 'news', name: 'News' },
        workspace: { id: 'acme', name: 'Acme' },
      },
    },
  ]);
  expect(answer).toMatchObject({ success: true, data: { title: 'Sale', _success: true } });
  expect(answer.error).toBeUndefined();
  const kept = await feedOf(key);
  expect(kept?.globalFeedData).toEqual(answer.data);
  expect(kept?.globalFeedFetchedAt).toEqual(answer.fetchedAt);
  expect(answer.data?._fetched_at).toBe(
    answer.fetchedAt && timestampDate(answer.fetchedAt).toISOString(),
  );
});

test('a refresh replaces the stored data, and update keeps it', async () => {
  const key = await givenBroadcast(given);
  await refresh(key);
  server.behaviour = (_, response) => response.end('{"title":"Later \\u0000"}');
  await refresh(key);
  const { broadcast } = await given.client.updateBroadcast({
    ...key,
    name: 'Hello',
    audience: { list: 'news' },
    testSettings: { variations: [{ templateId: 'hello' }] },
  });
  expect(broadcast?.dataFeed?.globalFeedData).toMatchObject({ title: 'Later \u0000' });
});

test('an integer beyond 2^53 is answered and stored by its digits', async () => {
  const key = await givenBroadcast(given);
  server.behaviour = (_, response) => response.end('{"id":10215467823456789}');
  expect((await refresh(key)).data).toMatchObject({ id: '10215467823456789' });
  expect((await feedOf(key))?.globalFeedData).toMatchObject({ id: '10215467823456789' });
});

test('list leaves the data out', async () => {
  const key = await givenBroadcast(given);
  await refresh(key);
  const { broadcasts } = await given.client.listBroadcasts({ workspaceId: key.workspaceId });
  const listed = broadcasts.find(({ id }) => id === key.id)?.dataFeed;
  expect(listed?.globalFeedFetchedAt).toBeDefined();
  expect(listed?.globalFeedData).toBeUndefined();
});

test('a failing feed is reported, and nothing is stored', async () => {
  const key = await givenBroadcast(given);
  server.behaviour = (_, response) => response.writeHead(500).end('{}');
  const answer = await refresh(key);
  expect(answer).toMatchObject({
    success: false,
    error: 'failed to fetch global feed: HTTP error 500: Internal Server Error',
  });
  expect(answer.data).toBeUndefined();
  expect(answer.fetchedAt).toBeUndefined();
  expect(await feedOf(key)).toBeUndefined();
});

test('an answer that exceeds 1 MiB when serialized again is refused', async () => {
  const numbers = Array.from({ length: 200_000 }, () => '1e20').join();
  server.behaviour = (_, response) => response.end(`{"numbers":[${numbers}]}`);
  expect(await refresh(await givenBroadcast(given))).toMatchObject({
    success: false,
    error: 'failed to fetch global feed: invalid JSON response: longer than 1 MiB',
  });
});

test('a refresh after the freeze does not change the sent data', async () => {
  const key = await givenBroadcast(given, { status: 'sending', frozen_at: given.clock.now });
  expect(await refresh(key)).toMatchObject({ success: true, data: { title: 'Sale' } });
  expect(await feedOf(key)).toBeUndefined();
});

test("a header without a value takes the broadcast's own for the same server, and no other", async () => {
  const id = newId();
  const headers = [givenHeader(id, 'global')];
  const global_feed = { enabled: true, url: server.url, headers };
  const key = await givenBroadcast(given, { id, data_feed: { global_feed } });
  const other = await startFeedServer();
  const asked = { headers: [{ name: 'X-Key', value: '' }] };
  await refresh(key, asked);
  expect(server.requests[0]?.headers['x-key']).toBe('secret');
  await expect(refresh(key, { ...asked, url: other.url })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'header value is required',
  });
  expect(other.requests).toEqual([]);
  await other.close();
});

test.each([
  [{ url: 'ftp://feeds.example.com/' }, 'url: URL must use http or https scheme'],
  [{ url: 'https://10.0.0.1/' }, 'url: URL must not use private or restricted IP address'],
  [{ headers: [{ name: 'Host', value: 'a' }] }, 'header Host is not allowed'],
])('a refresh with %j is refused', async (over, text) => {
  await expect(refresh(await givenBroadcast(given), over)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: text,
  });
  expect(server.requests).toEqual([]);
});

test('a refresh without an address is refused', async () => {
  await expect(refresh(await givenBroadcast(given), { url: '' })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'url is required',
  });
});

test('an unknown broadcast has no feed to refresh', async () => {
  await expect(refresh({ workspaceId: 'acme', id: 'unknown' })).rejects.toMatchObject({
    code: Code.NotFound,
    rawMessage: 'Broadcast not found',
  });
  expect(server.requests).toEqual([]);
});

test.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '100.64.0.1', '::1', 'fd00::1'])(
  'a public name that turns out to be %s is not called',
  async (address) => {
    const family = address.includes(':') ? 6 : 4;
    const resolve = async () => [{ address, family }] as const;
    const names = { resolve, mailHosts: async () => [], close: () => {} };
    const egress = createEgress({ allow: [], dnsServers: [] }, names);
    const { client, ...fooled } = await givenService({ egress });
    const key = await givenBroadcast({ client, ...fooled });
    const url = 'https://feeds.example.com/';
    const answer = await client.refreshGlobalFeed({ ...key, broadcastId: key.id, url });
    expect(answer).toMatchObject({
      success: false,
      error:
        'failed to fetch global feed: request failed: the host is not an address that may be called; EGRESS_ALLOW opens private ranges',
    });
    await egress.close();
    await fooled.context.store.close();
  },
);
