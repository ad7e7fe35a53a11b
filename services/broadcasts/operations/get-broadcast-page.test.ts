import { durationFromMs, timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { BroadcastPageService } from '#gen/postrider/broadcasts/v1/page_pb.ts';
import { testTransport, userClaims } from '../../../test/setup/service.ts';
import type { TestSettings } from '../broadcast/row.ts';
import { broadcastsRoutes } from '../service.ts';
import { givenBroadcast, tested, useService } from '../test/given.ts';

const given = useService();
beforeEach(() => {
  given.clock.now = new Date('2030-01-01T12:00:00Z');
  Object.assign(given.peers, { stats: [], links: {}, timeline: {} });
});

type Key = { workspaceId: string; id: string };

/** The token of the link that `broadcasts.get` answers. */
async function tokenOf(key: Key): Promise<string> {
  const { broadcast } = await given.client.getBroadcast(key);
  return new URL(broadcast?.pageUrl ?? '').searchParams.get('token') ?? '';
}

const pageOf = async (key: Key) =>
  given.pages.getBroadcastPage({ id: key.id, token: await tokenOf(key) });

const sent = { templateId: 'a', sent: 400, opened: 100, clicked: 10 };

test('get, list, create and update answer the link', async () => {
  const key = await givenBroadcast(given);
  const { broadcast } = await given.client.getBroadcast(key);
  expect(broadcast?.pageUrl).toContain(`https://mail.example/broadcasts/${key.id}?token=`);
  const { broadcasts } = await given.client.listBroadcasts({ ...key, limit: 100 });
  expect(broadcasts.find(({ id }) => id === key.id)?.pageUrl).toBe(broadcast?.pageUrl);
});

test('a page shows what the API says of the broadcast and of its test', async () => {
  const key = await givenBroadcast(given, { status: 'testing', test_settings: tested });
  given.peers.stats = [sent, { ...sent, templateId: 'b', opened: 200, clicked: 60 }];
  const page = await pageOf(key);
  const { broadcast } = await given.client.getBroadcast(key);
  expect(page.broadcast).toEqual({
    ...broadcast,
    audience: undefined,
    metadata: undefined,
    dataFeed: undefined,
    pageUrl: undefined,
  });
  const results = await given.client.getTestResults(key);
  const arms = page.arms.map(({ result }) => [result?.templateId ?? '', result] as const);
  expect(Object.fromEntries(arms)).toEqual(results.variationResults);
  expect(page.comparison).toEqual(results.comparison);
  expect(page.comparison?.isEnough).toBe(true);
  expect(timestampDate(page.expiresAt!)).toEqual(new Date('2030-02-01T00:00:00Z'));
});

test('rates have the interval of Wilson, and everything is possible where nothing was sent', async () => {
  const key = await givenBroadcast(given, { status: 'testing', test_settings: tested });
  given.peers.stats = [sent];
  const { arms } = await pageOf(key);
  expect(arms[0]?.openRate?.low).toBeCloseTo(0.21, 3);
  expect(arms[0]?.openRate?.high).toBeCloseTo(0.2946, 3);
  expect(arms[1]?.clickRate).toMatchObject({ low: 0, high: 1 });
});

test('a broadcast without a test has one arm and no comparison, a draft none', async () => {
  given.peers.stats = [{ ...sent, templateId: 'hello' }];
  const page = await pageOf(await givenBroadcast(given, { status: 'sending' }));
  expect(page.arms).toHaveLength(1);
  expect(page.comparison).toBeUndefined();
  const draft = await pageOf(await givenBroadcast(given));
  expect(draft).toMatchObject({ arms: [] });
  expect(draft.timeline).toBeUndefined();
});

test('eight arms are shown', async () => {
  const variations = Array.from({ length: 8 }, (_, arm) => ({
    template_id: `t${arm}`,
    variation_name: `Arm ${arm}`,
  }));
  const test_settings: TestSettings = { ...tested, variations };
  const page = await pageOf(await givenBroadcast(given, { status: 'testing', test_settings }));
  expect(page.arms.map(({ result }) => result?.templateName)).toEqual(
    variations.map(({ variation_name }) => variation_name),
  );
});

test('links and timeline pass through', async () => {
  const since = timestampFromDate(given.clock.now);
  given.peers.links = { links: [{ url: 'https://a.example/', clicks: 3 }], linkCount: 1 };
  given.peers.timeline = { since, step: durationFromMs(1_000), sent: [2], opened: [1] };
  expect(await pageOf(await givenBroadcast(given, { status: 'sending' }))).toMatchObject({
    links: given.peers.links,
    timeline: { sent: [2], opened: [1] },
  });
});

test.each([Code.DeadlineExceeded, Code.Unavailable, Code.Unimplemented])(
  'while messages answers %s the page shows the rest',
  async (code) => {
    const key = await givenBroadcast(given, { status: 'sending' });
    const failure = new ConnectError('not now', code);
    Object.assign(given.peers, { stats: failure, links: failure, timeline: failure });
    const page = await pageOf(key);
    expect(page.broadcast?.name).toBe('Hello');
    expect(page).toMatchObject({ arms: [] });
    expect([page.links, page.timeline]).toEqual([undefined, undefined]);
  },
);

test('a token of another broadcast, a forged and an expired one are refused alike', async () => {
  const [one, other] = [await givenBroadcast(given), await givenBroadcast(given)];
  const token = await tokenOf(one);
  const refusal = {
    code: Code.InvalidArgument,
    rawMessage: 'the link is not valid, or has expired',
  };
  const read = (id: string, text: string) => given.pages.getBroadcastPage({ id, token: text });
  await expect(read(other.id, token)).rejects.toMatchObject(refusal);
  await expect(read(one.id, `${token.slice(0, -4)}AAAA`)).rejects.toMatchObject(refusal);
  given.clock.now = new Date('2030-02-01T00:00:00Z');
  await expect(read(one.id, token)).rejects.toMatchObject(refusal);
});

test('the page of a deleted broadcast is gone', async () => {
  const key = await givenBroadcast(given);
  const token = await tokenOf(key);
  await given.client.deleteBroadcast(key);
  await expect(given.pages.getBroadcastPage({ id: key.id, token })).rejects.toMatchObject({
    code: Code.NotFound,
  });
});

test('users may not ask for it, though the token were theirs', async () => {
  const key = await givenBroadcast(given);
  const transport = testTransport(broadcastsRoutes(given.context))(userClaims());
  const pages = createClient(BroadcastPageService, transport);
  await expect(
    pages.getBroadcastPage({ id: key.id, token: await tokenOf(key) }),
  ).rejects.toMatchObject({ code: Code.PermissionDenied });
});
