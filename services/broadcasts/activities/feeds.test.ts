import { create } from '@bufbuild/protobuf';
import { beforeEach, expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import {
  type SendBatchRequest,
  SendBatchResponseSchema,
  type SendPlan,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import { headerPlace } from '#lib/keys/places.ts';
import { useFeedServer } from '../../../test/feed-server.ts';
import { keyring } from '../../../test/setup/service.ts';
import type { StoredStatus } from '../broadcast/row.ts';
import { givenBroadcast, givenHeader, newId, tested, useService } from '../test/given.ts';
import { allSent } from '../test/given-peers.ts';
import { completeTest } from './complete-test.ts';
import { freezeAudience } from './freeze-audience.ts';
import { readPlan } from './read-plan.ts';
import { resumeAfterOutage } from './resume-after-outage.ts';
import { sendSlice } from './send-slice.ts';

const given = useService();
const server = useFeedServer('{"title":"Sale"}');
let plans: SendPlan[];
beforeEach(() => {
  plans = [];
  given.peers.sendBatch = (request) => {
    if (request.plan) plans.push(request.plan);
    return allSent(request);
  };
});

type Key = { workspaceId: string; id: string };
const run = <Result>(work: () => Promise<Result>) => new MockActivityEnvironment().run(work);
const freeze = (key: Key) => run(() => freezeAudience(given.context)(key));
const send = (key: Key, slice = 0) => run(() => sendSlice(given.context)({ ...key, slice }));
const look = (key: Key) => readPlan(given.context)(key);
const globalOf = ({ globalFeedJson }: SendPlan) => JSON.parse(globalFeedJson);

const feed = () => ({ enabled: true, url: server.url, headers: [] });

function givenFed(status: StoredStatus = 'sending') {
  const settings = status === 'testing' ? { test_settings: tested } : {};
  return givenBroadcast(given, { status, ...settings, data_feed: { global_feed: feed() } });
}

test('freezing asks the global feed, and every batch carries its answer', async () => {
  const key = await givenFed();
  await freeze(key);
  server.behaviour = (_, response) => response.end('{"title":"Too late"}');
  await freeze(key);
  await send(key);
  expect(server.requests).toMatchObject([{ body: { broadcast: { id: key.id } } }]);
  expect(plans.map(globalOf)).toMatchObject([{ title: 'Sale', _success: true }]);
  const { broadcast } = await given.client.getBroadcast(key);
  expect(broadcast?.dataFeed?.globalFeedData).toEqual(plans[0] && globalOf(plans[0]));
});

test('the start of sending replaces an answer that was refreshed before', async () => {
  const key = await givenFed();
  server.behaviour = (_, response) => response.end('{"title":"Early"}');
  const { success } = await given.client.refreshGlobalFeed({
    ...key,
    broadcastId: key.id,
    url: server.url,
  });
  expect(success).toBe(true);
  server.behaviour = (_, response) => response.end('{"title":"Sale"}');
  await freeze(key);
  await send(key);
  expect(plans.map(globalOf)).toMatchObject([{ title: 'Sale' }]);
});

test('the sample and the recipients of the winner see the same answer', async () => {
  const key = await givenFed('testing');
  await freeze(key);
  await send(key, 0);
  await completeTest(given.context)(key);
  server.behaviour = (_, response) => response.end('{"title":"Too late"}');
  await given.client.refreshGlobalFeed({ ...key, broadcastId: key.id, url: server.url });
  await given.client.selectWinner({ ...key, templateId: 'b' });
  const { step } = await look(key);
  for (const slice of step.do === 'send' ? step.slices : []) await send(key, slice);
  expect(plans.length).toBeGreaterThan(1);
  expect(new Set(plans.map(({ templateId }) => templateId))).toEqual(new Set(['a', 'b']));
  for (const plan of plans) expect(globalOf(plan)).toMatchObject({ title: 'Sale' });
});

test('a global feed that fails pauses the broadcast with the reason, and is asked again', async () => {
  server.behaviour = (_, response) => response.writeHead(502).end();
  const key = await givenFed();
  await freeze(key);
  const { step, story } = await look(key);
  expect(story).toMatchObject({
    status: 'paused',
    pausedBy: 'system',
    reason: 'global feed failed: HTTP error 502: Bad Gateway',
    recipients: 0,
  });
  const untilMs = given.clock.now.getTime() + 60_000;
  expect(step).toEqual({ do: 'wait', untilMs });
  given.clock.now = new Date(untilMs);
  server.behaviour = (_, response) => response.end('{}');
  await resumeAfterOutage(given.context)(key);
  await freeze(key);
  expect((await look(key)).story).toMatchObject({ status: 'sending', recipients: 3 });
});

test('a global feed that is not enabled is not asked', async () => {
  const global_feed = { ...feed(), enabled: false };
  const key = await givenBroadcast(given, { status: 'sending', data_feed: { global_feed } });
  await freeze(key);
  await send(key);
  expect(server.requests).toEqual([]);
  expect(plans.map(({ globalFeedJson }) => globalFeedJson)).toEqual(['']);
});

test('a broadcast that is changed while its feed is asked is read again', async () => {
  const key = await givenFed();
  server.behaviour = async (_, response) => {
    await given.client.pauseBroadcast(key);
    await given.client.resumeBroadcast(key);
    response.end('{"title":"Too early"}');
  };
  await freeze(key);
  expect((await look(key)).step).toEqual({ do: 'freeze' });
  const { broadcast } = await given.client.getBroadcast(key);
  expect(broadcast?.dataFeed?.globalFeedData).toBeUndefined();
});

test('a feed that does not answer holds up no other broadcast of its workspace', async () => {
  const slow = await givenFed();
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  server.behaviour = async (_, response) => {
    asked.resolve();
    await answer.promise;
    response.end('{"title":"Sale"}');
  };
  const freezing = freeze(slow);
  await asked.promise;
  const other = await givenBroadcast(given, { status: 'sending' });
  await freeze(other);
  expect((await look(other)).step).toMatchObject({ do: 'send' });
  answer.resolve();
  await freezing;
  expect((await look(slow)).step).toMatchObject({ do: 'send' });
});

test('a recipient feed goes along with every batch, its secrets sealed', async () => {
  const id = newId();
  const headers = [givenHeader(id, 'recipient')];
  const recipient_feed = { ...feed(), headers };
  const key = await givenBroadcast(given, { id, status: 'sending', data_feed: { recipient_feed } });
  await freeze(key);
  await send(key);
  const [header] = plans[0]?.recipientFeed?.headers ?? [];
  expect(plans[0]?.recipientFeed?.url).toBe(server.url);
  expect(header?.name).toBe('X-Key');
  const place = headerPlace(key.workspaceId, key.id, 'X-Key');
  expect(keyring.letters.open(header?.sealedValue ?? '', place)).toBe('secret');
});

test('a recipient feed that fails is an outage of the slice', async () => {
  const outage = 'recipient feed failed: request timeout after 5s';
  given.peers.sendBatch = ({ emails }: SendBatchRequest) =>
    create(SendBatchResponseSchema, { outage, notStarted: emails.length });
  const recipient_feed = feed();
  const key = await givenBroadcast(given, { status: 'sending', data_feed: { recipient_feed } });
  await freeze(key);
  expect(await send(key)).toEqual({ outage });
});

test('deleting a broadcast deletes the answer of its feed', async () => {
  const key = await givenFed('draft');
  await given.client.refreshGlobalFeed({ ...key, broadcastId: key.id, url: server.url });
  await given.client.deleteBroadcast(key);
  const rows = await given.context.store
    .fork()
    .getConnection()
    .execute('select * from global_feeds where broadcast_id = ?', [key.id]);
  expect(rows).toEqual([]);
});
