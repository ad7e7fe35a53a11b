import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterEach, expect, test } from '@jest/globals';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { ListVariationStatsResponseSchema } from '#gen/postrider/messages/v1/messages_pb.ts';
import { Broadcast } from '../broadcast/broadcast.ts';
import { givenBroadcast, newId, pinned, useService } from '../test/given.ts';
import { allSent } from '../test/given-peers.ts';
import { playSteps } from '../test/play.ts';
import { createComplaintWatch } from './complaints.ts';

const given = useService();
afterEach(() => {
  given.peers.stats = [];
});

const log = { warn: () => undefined };

type Stats = { sent: number; delivered?: number; complained: number };

/** An integration whose last broadcast has these numbers, and a new one that goes through it. */
async function givenSender({ sent, delivered = 0, complained }: Stats, { daysAgo = 1 } = {}) {
  const integration_id = newId();
  const plan = { ...pinned, integration_id };
  const em = given.context.store.fork();
  const at = new Date(given.clock.now.getTime() - daysAgo * 86_400_000);
  const before = await givenBroadcast(given, { status: 'sent', integration_id });
  await em.nativeUpdate(Broadcast, { id: before.id }, { plan, started_at: at });
  given.peers.stats = [{ templateId: 'hello', sent, delivered, complained }];
  given.peers.sendBatch = allSent;
  return givenBroadcast(given, { status: 'sending', integration_id });
}

async function statusOf(key: { workspaceId: string; id: string }) {
  const { broadcast } = await given.client.getBroadcast(key);
  return { status: broadcast?.status, reason: broadcast?.pauseReason };
}

const sentTo = { status: BroadcastStatus.SENT, reason: undefined };

test('a broadcast pauses before its first mail where three in a thousand have complained, and resume sends it', async () => {
  const key = await givenSender({ sent: 12_000, complained: 50 });
  let batches = 0;
  given.peers.sendBatch = (request) => {
    batches += 1;
    return allSent(request);
  };
  expect(await playSteps(given, key)).toEqual({ do: 'wait', untilMs: null });
  expect(batches).toBe(0);
  const { status, reason } = await statusOf(key);
  expect(status).toBe(BroadcastStatus.PAUSED);
  expect(reason).toContain('recipients of the last 7 days complained (0.42 %)');
  expect(reason).toContain('broadcasts pause at 0.3 %');
  await given.client.resumeBroadcast(key);
  expect(await playSteps(given, key)).toEqual({ do: 'end' });
  expect(await statusOf(key)).toEqual(sentTo);
});

test.each<[string, Stats]>([
  ['fewer have complained', { sent: 12_000, complained: 10 }],
  ['there are not a thousand mails', { sent: 400, complained: 100 }],
])('a broadcast goes on where %s', async (_, stats) => {
  const key = await givenSender(stats);
  expect(await playSteps(given, key)).toEqual({ do: 'end' });
  expect(await statusOf(key)).toEqual(sentTo);
});

test('only broadcasts of the integration that were begun in the last week are counted', async () => {
  const stats = { sent: 12_000, complained: 50 };
  const counted = await givenSender(stats, { daysAgo: 6 });
  await givenSender(stats);
  const asked: string[][] = [];
  const { store } = given.context;
  const sender = {
    ...given.context.sender,
    listVariationStats: async (request: { broadcastIds?: string[] }) => {
      asked.push(request.broadcastIds ?? []);
      return given.context.sender.listVariationStats(request);
    },
  };
  const row = await store.fork().findOneOrFail(Broadcast, { id: counted.id });
  row.plan = { ...pinned, integration_id: row.integration_id };
  const pauses = async (later: number) => {
    const now = () => new Date(given.clock.now.getTime() + later * 86_400_000);
    const watch = createComplaintWatch({ store, sender, now, log }, { warned: 10, paused: 0 });
    return watch.pauses(counted, row);
  };
  expect(await pauses(0)).toBe(false);
  expect(await pauses(2)).toBe(false);
  expect(asked.map(({ length }) => length)).toEqual([1, 0]);
});

test('the share is that of delivered mails where most are reported', async () => {
  const few = await givenSender({ sent: 20_000, delivered: 11_000, complained: 40 });
  expect(await playSteps(given, few)).toEqual({ do: 'wait', untilMs: null });
  const unreported = await givenSender({ sent: 20_000, delivered: 1_000, complained: 40 });
  expect(await playSteps(given, unreported)).toEqual({ do: 'end' });
});

/** A look at a broadcast from `own` beside one of the same integration from `other`. */
async function pausesBeside({ own, other }: { own: string; other: string }) {
  const key = await givenSender({ sent: 12_000, complained: 50 });
  const { store, sender } = given.context;
  const row = await store.fork().findOneOrFail(Broadcast, { id: key.id });
  row.plan = { ...pinned, integration_id: row.integration_id };
  const stats = { templateId: 'hello', sent: 5_000, delivered: 0, opened: 0, clicked: 0 };
  const listVariationStats: typeof sender.listVariationStats = async ({ broadcastIds = [] }) =>
    create(ListVariationStatsResponseSchema, {
      stats: [
        { ...stats, broadcastId: `${broadcastIds[0]}`, complained: 30, fromDomain: other },
        { ...stats, broadcastId: key.id, complained: 0, fromDomain: own },
      ],
    });
  const now = () => given.clock.now;
  const limits = { warned: 10, paused: 30 };
  const watch = createComplaintWatch({ store, sender: { listVariationStats }, now, log }, limits);
  const isPaused = await watch.pauses(key, row);
  return { isPaused, reason: (await statusOf(key)).reason };
}

test('complaints about another From domain of the integration pause nothing, once the domain is known', async () => {
  const good = await pausesBeside({ own: 'good.example', other: 'bad.example' });
  expect(good.isPaused).toBe(false);
  const bad = await pausesBeside({ own: 'bad.example', other: 'bad.example' });
  expect(bad.isPaused).toBe(true);
  expect(bad.reason).toContain('recipients of mail from bad.example of the last');
});

test('complaints about a broadcast whose From domain is not known count in every domain', async () => {
  expect(await pausesBeside({ own: 'own.example', other: '' })).toMatchObject({ isPaused: true });
});

test.each([Code.Unavailable, Code.Internal])(
  'a broadcast goes on while messages answers %s to the question',
  async (code) => {
    const key = await givenSender({ sent: 12_000, complained: 50 });
    given.peers.stats = new ConnectError('away', code);
    expect(await playSteps(given, key)).toEqual({ do: 'end' });
  },
);

test('with a limit of 0 nothing pauses', async () => {
  const key = await givenSender({ sent: 12_000, complained: 12_000 });
  const { store, sender } = given.context;
  const now = () => given.clock.now;
  const watch = createComplaintWatch({ store, sender, now, log }, { warned: 0, paused: 0 });
  const row = await store.fork().findOneOrFail(Broadcast, { id: key.id });
  row.plan = { ...pinned, integration_id: 'any' };
  expect(await watch.pauses(key, row)).toBe(false);
});
