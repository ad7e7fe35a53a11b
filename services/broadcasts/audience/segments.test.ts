import { Code, ConnectError } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { BadRequestSchema } from '#gen/google/rpc/error_details_pb.ts';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import type { SendPlan } from '#gen/postrider/messages/v1/messages_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { freezeAudience } from '../activities/freeze-audience.ts';
import { findBroadcast } from '../broadcast/queries.ts';
import { subjectOf } from '../feeds/global.ts';
import { draftContent, givenBroadcast, tested, useService } from '../test/given.ts';
import { allSent, fakePeers } from '../test/given-peers.ts';
import { playSteps, runActivity } from '../test/play.ts';

const given = useService();
const crowd = Array.from({ length: 35_000 }, (_, n) => `p${String(n).padStart(5, '0')}`);

type Key = { workspaceId: string; id: string };
let sent: string[];
let plans: SendPlan[];
/** Called before each page is read, with the address that it starts after. */
let onPage: (afterEmail: string) => unknown;
beforeEach(() => {
  sent = [];
  plans = [];
  onPage = () => {};
  const { neighbours } = given;
  Object.assign(neighbours, { audience: crowd, missingSegments: ['missing'] });
  neighbours.isInSegments = () => true;
  neighbours.sendBatch = (request) => {
    sent.push(...request.emails);
    if (request.plan) plans.push(request.plan);
    return allSent(request);
  };
  const { listAudience } = fakePeers(neighbours).audience;
  given.context.audience.listAudience = async (request) => {
    await onPage(request.afterEmail ?? '');
    return listAudience(request);
  };
});

const read = async (key: Key) => (await given.client.getBroadcast(key)).broadcast;
const freeze = (key: Key) => runActivity(() => freezeAudience(given.context)(key));
const slicesOf = ({ id }: Key) =>
  query<{ number: number; size: number }>(
    given.context.store.fork(),
    'select number, size from slices where broadcast_id = $1 order by number',
    [id],
  );
const alone = { list: '', segments: ['vip', 'new'] };

test('a broadcast to segments alone goes to those who are in them, by no list', async () => {
  given.neighbours.isInSegments = (email, segmentIds) =>
    email.endsWith('7') && segmentIds.join() === 'vip,new';
  const key = await givenBroadcast(given, { status: 'sending', ...alone });
  expect(await playSteps(given, key)).toEqual({ do: 'end' });
  expect(sent).toEqual(crowd.filter((email) => email.endsWith('7')));
  expect(new Set(plans.map(({ listId }) => listId))).toEqual(new Set(['']));
  expect(await read(key)).toMatchObject({
    status: BroadcastStatus.SENT,
    enqueuedCount: 3_500,
    sentCount: 3_500,
  });
});

test('a test and recipients in their own zones go to segments alone as well', async () => {
  given.neighbours.isInSegments = (email) => email < 'p00100';
  given.neighbours.zoneOf = (email) => (email < 'p00050' ? 'Pacific/Niue' : '');
  const key = await givenBroadcast(given, {
    ...alone,
    ...{ status: 'testing', test_settings: { ...tested, sample_percentage: 20 } },
    schedule: {
      scheduled_date: '2030-01-01',
      scheduled_time: '09:00',
      timezone: 'UTC',
      use_recipient_timezone: true,
    },
  });
  for (;;) {
    const step = await playSteps(given, key);
    if (step.do !== 'wait' || step.untilMs === null) break;
    given.clock.now = new Date(step.untilMs);
  }
  expect(sent.toSorted()).toEqual(crowd.slice(0, 100));
  expect(new Set(plans.map(({ listId }) => listId))).toEqual(new Set(['']));
  expect(await read(key)).toMatchObject({
    status: BroadcastStatus.SENT,
    testPhaseRecipientCount: 20,
    winnerPhaseRecipientCount: 80,
  });
});

test('short pages are put together, so that slices are whole', async () => {
  given.neighbours.isInSegments = (email) => Number(email.slice(1)) % 2 === 0;
  const pages: string[] = [];
  onPage = (afterEmail) => pages.push(afterEmail);
  const key = await givenBroadcast(given, { status: 'sending', segments: ['vip'] });
  expect(await freeze(key)).toEqual({ hasMore: true });
  expect(pages).toEqual(['', 'p09999']);
  while ((await freeze(key)).hasMore);
  expect((await slicesOf(key)).map(({ size }) => size)).toEqual([5_000, 5_000, 5_000, 2_500]);
});

test('pages without anybody, and pages of odd sizes, lose nobody', async () => {
  given.neighbours.isInSegments = (email) => email > 'p10002' && email !== 'p20005';
  const key = await givenBroadcast(given, { status: 'sending', ...alone });
  await playSteps(given, key);
  expect(sent).toEqual(crowd.filter((email) => email > 'p10002' && email !== 'p20005'));
  const slices = await slicesOf(key);
  expect(slices.map(({ number }) => number)).toEqual(slices.map((_, place) => place));
});

test('a segment that nobody is in any more ends the broadcast with nobody', async () => {
  given.neighbours.isInSegments = () => false;
  const key = await givenBroadcast(given, { status: 'sending', ...alone });
  expect(await playSteps(given, key)).toEqual({ do: 'end' });
  expect(await read(key)).toMatchObject({ status: BroadcastStatus.SENT, enqueuedCount: 0 });
});

test('a segment that was deleted before the freeze pauses, and another one may be chosen', async () => {
  const key = await givenBroadcast(given, { status: 'sending', ...alone });
  given.neighbours.missingSegments = ['new'];
  expect(await freeze(key)).toEqual({ hasMore: false });
  expect(await read(key)).toMatchObject({
    status: BroadcastStatus.PAUSED,
    pauseReason: 'segment new does not exist any more',
  });
  expect(await playSteps(given, key)).toEqual({ do: 'wait', untilMs: null });
  await given.client.updateBroadcast({
    ...key,
    ...draftContent,
    audience: { list: '', segments: ['vip'] },
  });
  await given.client.resumeBroadcast(key);
  await playSteps(given, key);
  expect(sent).toEqual(crowd);
});

test('a segment that is deleted in the middle pauses, and after a resume nobody is read twice', async () => {
  const key = await givenBroadcast(given, { status: 'sending', segments: ['vip'] });
  onPage = (afterEmail) => {
    if (afterEmail === 'p19999') given.neighbours.missingSegments = ['vip'];
  };
  await playSteps(given, key);
  expect(await read(key)).toMatchObject({
    status: BroadcastStatus.PAUSED,
    pauseReason: 'segment vip does not exist any more',
  });
  given.neighbours.missingSegments = [];
  onPage = () => {};
  await given.client.resumeBroadcast(key);
  await playSteps(given, key);
  expect(sent).toEqual(crowd);
});

test('a contacts process that does not know segments is not asked for everybody in the list', async () => {
  const key = await givenBroadcast(given, { status: 'sending', segments: ['vip'] });
  const { listAudience } = given.context.audience;
  given.context.audience.listAudience = (request) => listAudience({ ...request, segmentIds: [] });
  await expect(freeze(key)).rejects.toMatchObject({ code: Code.Unavailable });
  expect(await read(key)).toMatchObject({ status: BroadcastStatus.SENDING, enqueuedCount: 0 });
});

test('a page whose segments take too long is read in smaller ones', async () => {
  given.neighbours.isInSegments = (email) => email < 'p12000';
  const { listAudience } = given.context.audience;
  const sizes: number[] = [];
  given.context.audience.listAudience = (request) => {
    sizes.push(request.pageSize ?? 0);
    if ((request.pageSize ?? 0) > 1_000) throw new ConnectError('late', Code.DeadlineExceeded);
    return listAudience(request);
  };
  const key = await givenBroadcast(given, { status: 'sending', ...alone });
  await playSteps(given, key);
  expect(sent).toEqual(crowd.slice(0, 12_000));
  expect(sizes.slice(0, 4)).toEqual([10_000, 2_500, 625, 625]);
});

test('schedule and estimate name the segment that does not exist', async () => {
  const audience = { list: 'news', segments: ['vip', 'missing'] };
  const { broadcast } = await given.client.createBroadcast({ ...draftContent, audience });
  const key = { workspaceId: 'acme', id: broadcast?.id ?? '' };
  for (const refused of [
    given.client.scheduleBroadcast({ ...key, sendNow: true }),
    given.client.estimateAudience({ workspaceId: 'acme', audience }),
  ]) {
    const error = await refused.then(
      () => undefined,
      (thrown: ConnectError) => thrown,
    );
    expect(error).toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: 'segment missing not found',
    });
    expect(error?.findDetails(BadRequestSchema)[0]?.fieldViolations).toMatchObject([
      { field: 'audience.segments[1]' },
    ]);
  }
  expect(await read(key)).toMatchObject({ audience, status: BroadcastStatus.DRAFT });
});

test.each([
  [{ excludeUnsubscribed: false }, 'exclude_unsubscribed cannot be false without a list'],
  [{ furtherLists: ['offers'] }, 'list is required with further_lists'],
  [{ segments: [] }, 'list is required'],
])('an audience without a list refuses %j', async (more, text) => {
  const audience = { list: '', segments: ['vip'], ...more };
  const refused = { code: Code.InvalidArgument, rawMessage: text };
  const created = given.client.createBroadcast({ ...draftContent, audience });
  await expect(created).rejects.toMatchObject(refused);
  const estimated = given.client.estimateAudience({ workspaceId: 'acme', audience });
  await expect(estimated).rejects.toMatchObject(refused);
});

test('estimateAudience counts an audience with segments, lists, or both', async () => {
  given.neighbours.isInSegments = (email, segmentIds) => segmentIds.includes('vip') && email < 'p1';
  const count = async (audience: object) =>
    (await given.client.estimateAudience({ workspaceId: 'acme', audience })).count;
  expect(await count({ list: 'news' })).toBe(35_000);
  expect(await count({ list: 'news', segments: ['vip'] })).toBe(10_000);
  expect(await count({ list: '', segments: ['vip'] })).toBe(10_000);
});

test('a test mail and the feeds of a broadcast to segments alone name no list', async () => {
  const key = await givenBroadcast(given, alone);
  let plan: SendPlan | undefined;
  given.neighbours.sendIndividual = (request) => {
    plan = request.plan;
  };
  await given.client.sendToIndividual({
    workspaceId: 'acme',
    broadcastId: key.id,
    recipientEmail: 'a@example.com',
  });
  expect(plan).toMatchObject({ listId: '', listName: '', includeUnsubscribed: false });
  const broadcast = await findBroadcast(given.context.store.fork(), key);
  expect(await subjectOf(given.context, broadcast)).toMatchObject({ list: null });
});
