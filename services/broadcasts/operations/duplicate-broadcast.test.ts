import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { keyring } from '../../../test/setup/service.ts';
import { findBroadcast } from '../broadcast/queries.ts';
import { openFeed } from '../feeds/headers.ts';
import {
  draftContent,
  givenBroadcast,
  givenHeader,
  newId,
  tested,
  useService,
} from '../test/given.ts';

const given = useService();
const workspaceId = 'acme';

test('a copy has the content of the broadcast, and nothing of its life', async () => {
  const content = {
    ...draftContent,
    audience: { list: 'news', furtherLists: ['offers'], segments: ['vip'] },
    testSettings: {
      enabled: true,
      samplePercentage: 50,
      testDurationHours: 4,
      variations: [{ templateId: 'a' }, { templateId: 'b' }],
    },
    utmParameters: { source: 'news' },
    metadata: { campaign: 'spring' },
    tags: ['spring'],
    integrationId: 'smtp',
  };
  const { broadcast: original } = await given.client.createBroadcast(content);
  const id = original?.id ?? '';
  const { broadcast: copy } = await given.client.duplicateBroadcast({ workspaceId, id });
  expect(copy?.id).not.toBe(id);
  expect(copy).toEqual({
    ...original,
    id: copy?.id,
    name: 'Hello (copy)',
    pageUrl: expect.stringContaining(copy?.id ?? ''),
  });
  expect((await given.client.getBroadcast({ workspaceId, id: copy?.id ?? '' })).broadcast).toEqual(
    copy,
  );
});

test.each(['sending', 'sent', 'cancelled', 'failed', 'paused'] as const)(
  'a %s broadcast is copied as a draft without schedule and winner',
  async (status) => {
    const key = await givenBroadcast(given, {
      ...{ status, test_settings: tested, frozen_at: given.clock.now, starts_at: given.clock.now },
      ...{ paused_from: status === 'paused' ? 'sending' : null, test_sent_at: given.clock.now },
      schedule: { is_scheduled: true, scheduled_date: '2030-01-01', scheduled_time: '12:00' },
    });
    const before = await findBroadcast(given.context.store.fork(), key);
    const { broadcast } = await given.client.duplicateBroadcast({ ...key, name: 'Again' });
    expect(broadcast).toMatchObject({
      name: 'Again',
      status: BroadcastStatus.DRAFT,
      schedule: { isScheduled: false, scheduledDate: '' },
      enqueuedCount: 0,
    });
    expect(broadcast?.scheduledAt ?? broadcast?.testSentAt ?? broadcast?.startedAt).toBeUndefined();
    expect(await findBroadcast(given.context.store.fork(), key)).toEqual(before);
  },
);

test('secrets of feeds are sealed for the copy', async () => {
  const id = newId();
  const url = 'https://feeds.example.com/news';
  const feed = (kind: 'global' | 'recipient') => ({
    ...{ enabled: true, url, headers: [givenHeader(id, kind)] },
  });
  const data_feed = { global_feed: feed('global'), recipient_feed: feed('recipient') };
  const key = await givenBroadcast(given, { id, data_feed });
  const { broadcast } = await given.client.duplicateBroadcast(key);
  const copy = { workspaceId, id: broadcast?.id ?? '' };
  const stored = (await findBroadcast(given.context.store.fork(), copy)).data_feed;
  for (const kind of ['global', 'recipient'] as const) {
    const sealed = stored?.[`${kind}_feed`];
    if (!sealed) throw new Error(`no ${kind} feed`);
    expect(sealed.enabled).toBe(true);
    expect(openFeed(keyring, { ...copy, kind }, sealed)).toEqual({
      url,
      headers: [{ name: 'X-Key', value: 'secret' }],
    });
  }
});

test('the name of a copy keeps to the limit', async () => {
  const name = '\u{1f600}'.repeat(255);
  const { broadcast } = await given.client.createBroadcast({ ...draftContent, name });
  const answer = await given.client.duplicateBroadcast({ workspaceId, id: broadcast?.id ?? '' });
  expect(answer.broadcast?.name).toBe(`${'\u{1f600}'.repeat(248)} (copy)`);
  const again = { workspaceId, id: answer.broadcast?.id ?? '', name: 'a'.repeat(256) };
  await expect(given.client.duplicateBroadcast(again)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'name must be less than 255 characters',
  });
});

test('a repeat with its Idempotency-Key makes one copy', async () => {
  const key = await givenBroadcast(given);
  const client = given.withHeaders({ 'idempotency-key': 'copy-once' });
  const [first, second] = [
    await client.duplicateBroadcast(key),
    await client.duplicateBroadcast(key),
  ];
  expect(second).toEqual(first);
});

test('a broadcast of another workspace, or a deleted one, is not found', async () => {
  const key = await givenBroadcast(given);
  const notFound = { code: Code.NotFound, rawMessage: 'Broadcast not found' };
  const elsewhere = given.client.duplicateBroadcast({ ...key, workspaceId: 'other' });
  await expect(elsewhere).rejects.toMatchObject(notFound);
  await given.client.deleteBroadcast(key);
  await expect(given.client.duplicateBroadcast(key)).rejects.toMatchObject(notFound);
});
