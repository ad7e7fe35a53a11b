import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { createEgress } from '#lib/outside/egress.ts';
import { keyring } from '../../../test/setup/service.ts';
import { findBroadcast } from '../broadcast/queries.ts';
import { openFeed } from '../feeds/headers.ts';
import { draftContent, givenBroadcast, useService } from '../test/given.ts';

// No private network is open, as for the tenants of a real installation.
const given = useService({ egress: createEgress({ allow: [], dnsServers: [] }) });

const workspaceId = 'acme';
const url = 'https://feeds.example.com/news';
const key = { name: 'X-Key', value: 'secret' };

async function givenFeed() {
  const dataFeed = { globalFeed: { enabled: true, url, headers: [key] } };
  const { broadcast } = await given.client.createBroadcast({ ...draftContent, dataFeed });
  return { workspaceId, id: broadcast?.id ?? '' };
}

/** The stored secrets of a feed, decrypted. */
async function secretsOf(broadcast: { workspaceId: string; id: string }, kind = 'global' as const) {
  const { data_feed } = await findBroadcast(given.context.store.fork(), broadcast);
  const feed = data_feed?.[`${kind}_feed`];
  return feed && openFeed(keyring, { ...broadcast, kind }, feed).headers.map(({ value }) => value);
}

test('feeds are shown by create, get, update and list, without their secrets', async () => {
  const globalFeed = { enabled: true, url, headers: [key] };
  const recipientFeed = { enabled: false, url: '', headers: [] };
  const dataFeed = { globalFeed, recipientFeed };
  const { broadcast } = await given.client.createBroadcast({ ...draftContent, dataFeed });
  const shown = {
    globalFeed: { enabled: true, url, headers: [{ name: 'X-Key', value: '' }] },
    recipientFeed,
  };
  expect(broadcast?.dataFeed).toMatchObject(shown);
  const id = broadcast?.id ?? '';
  const answers = await Promise.all([
    given.client.getBroadcast({ workspaceId, id }),
    given.client.updateBroadcast({ ...draftContent, id }),
  ]);
  for (const answer of answers) expect(answer.broadcast?.dataFeed).toMatchObject(shown);
  const { broadcasts } = await given.client.listBroadcasts({ workspaceId });
  expect(broadcasts.find((each) => each.id === id)?.dataFeed).toMatchObject(shown);
});

test('a broadcast without feeds has no data_feed', async () => {
  const { broadcast } = await given.client.createBroadcast(draftContent);
  expect(broadcast?.dataFeed).toBeUndefined();
});

test('secrets are stored sealed', async () => {
  const broadcast = await givenFeed();
  const { data_feed } = await findBroadcast(given.context.store.fork(), broadcast);
  expect(JSON.stringify(data_feed)).not.toContain('secret');
  expect(await secretsOf(broadcast)).toEqual(['secret']);
});

test('update keeps the feed that is absent, and replaces the other', async () => {
  const broadcast = await givenFeed();
  const recipientFeed = { enabled: true, url: 'https://feeds.example.com/each', headers: [] };
  const updated = await given.client.updateBroadcast({
    ...draftContent,
    ...broadcast,
    dataFeed: { recipientFeed },
  });
  expect(updated.broadcast?.dataFeed).toMatchObject({ globalFeed: { url }, recipientFeed });
  expect(await secretsOf(broadcast)).toEqual(['secret']);
});

test('a header without a value keeps its secret as long as the server is the same', async () => {
  const broadcast = await givenFeed();
  const update = (change: string) =>
    given.client.updateBroadcast({
      ...draftContent,
      ...broadcast,
      dataFeed: {
        globalFeed: { enabled: true, url: change, headers: [{ name: 'x-key', value: '' }] },
      },
    });
  await update('https://feeds.example.com/other');
  expect(await secretsOf(broadcast)).toEqual(['secret']);
  await expect(update('https://evil.example.com/news')).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'global feed: header value is required',
  });
});

test('feed data in a request is ignored', async () => {
  const dataFeed = { globalFeedData: { forged: true }, globalFeedFetchedAt: { seconds: 1n } };
  const { broadcast } = await given.client.createBroadcast({ ...draftContent, dataFeed });
  expect(broadcast?.dataFeed?.globalFeedData).toBeUndefined();
  expect(broadcast?.dataFeed?.globalFeedFetchedAt).toBeUndefined();
});

test('the address of a feed that is not enabled is not checked', async () => {
  const broadcast = await givenBroadcast(given);
  const recipientFeed = { enabled: false, url: 'later', headers: [] };
  const updated = await given.client.updateBroadcast({
    ...draftContent,
    ...broadcast,
    dataFeed: { recipientFeed },
  });
  expect(updated.broadcast?.dataFeed).toMatchObject({ recipientFeed });
});

const privateText = 'URL must not use private or restricted IP address';
const localText = 'URL must not use localhost or local domain';
const internalText = 'URL must not use internal domain';

test.each([
  ['not-a-url', 'invalid URL: it can not be read'],
  ['ftp://feeds.example.com/', 'URL must use http or https scheme'],
  ['http://feeds.example.com/', 'URL must use https scheme'],
  ['https://', 'URL must have a host'],
  ['https://user:pass@feeds.example.com/', 'URL must not contain credentials'],
  ['https://feeds.example.com/#top', 'URL must not contain fragment'],
  ['https://feeds.example.com/?key=1', 'URL must not contain query parameters'],
  ['https://localhost/', localText],
  ['https://LOCALHOST./', localText],
  ['https://localhost.localdomain/', localText],
  ['https://a.localhost/', localText],
  ['https://printer.local/', localText],
  ['https://vault.internal/', internalText],
  ['https://internal/', internalText],
  ['https://wiki.corp/', internalText],
  ['https://intranet/', internalText],
  ['https://metadata/', internalText],
  ['https://metadata.google.internal/', internalText],
  ['https://api.default.svc.cluster.local/', internalText],
  ['https://127.0.0.1/', privateText],
  ['https://2130706433/', privateText],
  ['https://0x7f.1/', privateText],
  ['https://10.0.0.1/', privateText],
  ['https://100.64.0.1/', privateText],
  ['https://169.254.169.254/', privateText],
  ['https://172.16.0.1/', privateText],
  ['https://192.168.0.1/', privateText],
  ['https://0.0.0.0/', privateText],
  ['https://224.0.0.1/', privateText],
  ['https://255.255.255.255/', privateText],
  ['https://[::1]/', privateText],
  ['https://[::]/', privateText],
  ['https://[fe80::1]/', privateText],
  ['https://[fc00::1]/', privateText],
  ['https://[::ffff:10.0.0.1]/', privateText],
  ['https://[64:ff9b::a00:1]/', privateText],
])('a feed at %s is refused', async (address, text) => {
  const feed = { enabled: true, url: address, headers: [] };
  const refused = (rawMessage: string) => ({ code: Code.InvalidArgument, rawMessage });
  await expect(
    given.client.createBroadcast({ ...draftContent, dataFeed: { globalFeed: feed } }),
  ).rejects.toMatchObject(refused(`global feed: global feed URL: ${text}`));
  const broadcast = await givenBroadcast(given);
  await expect(
    given.client.updateBroadcast({
      ...draftContent,
      ...broadcast,
      dataFeed: { recipientFeed: feed },
    }),
  ).rejects.toMatchObject(refused(`recipient feed: recipient feed URL: ${text}`));
});

test.each([
  ['global', { globalFeed: { enabled: true } }],
  ['recipient', { recipientFeed: { enabled: true } }],
])('a %s feed that is enabled needs an address', async (kind, dataFeed) => {
  await expect(given.client.createBroadcast({ ...draftContent, dataFeed })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: `${kind} feed: URL is required when ${kind} feed is enabled`,
  });
});

test.each([
  [[{ name: '', value: 'a' }], 'header name is required'],
  [[{ name: 'X-Key', value: '' }], 'header value is required'],
  [[{ name: 'X Key', value: 'a' }], 'header name is not valid'],
  [[{ name: 'X-Key\r\nHost', value: 'a' }], 'header name is not valid'],
  [[{ name: 'X'.repeat(101), value: 'a' }], 'header name is not valid'],
  [[{ name: 'hOst', value: 'a' }], 'header hOst is not allowed'],
  [[{ name: 'Content-Length', value: '1' }], 'header Content-Length is not allowed'],
  [[{ name: 'Proxy-Authorization', value: '1' }], 'header Proxy-Authorization is not allowed'],
  [
    [
      { name: 'A', value: '1' },
      { name: 'a', value: '2' },
    ],
    'header a is given twice',
  ],
  [[{ name: 'A', value: 'b\r\nHost: c' }], 'header value is not valid'],
  [[{ name: 'A', value: 'é' }], 'header value is not valid'],
  [[{ name: 'A', value: 'b'.repeat(2_049) }], 'header value is not valid'],
])('headers %j are refused', async (headers, text) => {
  const dataFeed = { globalFeed: { enabled: true, url, headers } };
  await expect(given.client.createBroadcast({ ...draftContent, dataFeed })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: `global feed: ${text}`,
  });
});

test.each([
  ['an address of 2,049 characters', { url: `https://a.example/${'a'.repeat(2_031)}` }],
  [
    '11 headers',
    { url, headers: Array.from({ length: 11 }, (_, n) => ({ ...key, name: `A${n}` })) },
  ],
])('%s are too much', async (_, feed) => {
  const dataFeed = { globalFeed: { enabled: true, ...feed } };
  await expect(given.client.createBroadcast({ ...draftContent, dataFeed })).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});
