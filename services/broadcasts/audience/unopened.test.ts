import { create } from '@bufbuild/protobuf';
import { createValidator } from '@bufbuild/protovalidate';
import { Code, type ConnectError } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { BadRequestSchema } from '#gen/google/rpc/error_details_pb.ts';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { CreateSegmentRequestSchema } from '#gen/postrider/contacts/v1/segments_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { freezeAudience } from '../activities/freeze-audience.ts';
import { pauseBySystem } from '../activities/pause-by-system.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
import type { StoredAudience } from '../broadcast/row.ts';
import { draftContent, givenBroadcast, tested, useService } from '../test/given.ts';
import { allSent } from '../test/given-peers.ts';
import { playSteps, runActivity } from '../test/play.ts';

const given = useService();
const crowd = Array.from({ length: 25_001 }, (_, n) => `p${String(n).padStart(5, '0')}`);
const dayMs = 24 * 60 * 60 * 1_000;
const workspaceId = 'acme';

/** Recipients in the order of sending, with their list. */
let sent: [email: string, listId: string][];
beforeEach(() => {
  sent = [];
  given.clock.now = new Date('2030-03-01T00:00:00Z');
  Object.assign(given.peers, {
    ...{ audience: crowd, messageDays: 0, missingSegments: ['missing'] },
    ...{ zoneOf: () => '', listOf: () => 0, isInSegments: () => true },
    isUnopened: (email: string) => email.endsWith('7'),
  });
  given.peers.sendBatch = (request) => {
    for (const email of request.emails) sent.push([email, request.plan?.listId ?? '']);
    return allSent(request);
  };
});

const read = async (key: BroadcastKey) => (await given.client.getBroadcast(key)).broadcast;
const freeze = (key: BroadcastKey) => runActivity(() => freezeAudience(given.context)(key));
const emails = () => sent.map(([email]) => email);
const unopened = crowd.filter((email) => email.endsWith('7'));

/** A broadcast that was sent. */
const givenFirst = async () =>
  (await givenBroadcast(given, { status: 'sent', started_at: given.clock.now })).id;

test('a broadcast goes to those of its audience who did not open another one', async () => {
  const not_opened_of = await givenFirst();
  const asked = new Set<string>();
  given.peers.isUnopened = (email, broadcastId) => {
    asked.add(broadcastId);
    return email.endsWith('7');
  };
  const key = await givenBroadcast(given, { status: 'sending', not_opened_of });
  expect(await playSteps(given, key)).toEqual({ do: 'end' });
  expect(emails()).toEqual(unopened);
  expect(asked).toEqual(new Set([not_opened_of]));
  expect(await read(key)).toMatchObject({
    status: BroadcastStatus.SENT,
    enqueuedCount: unopened.length,
    audience: { notOpenedOf: not_opened_of },
  });
});

test('lists and zones of those who are left stay theirs, beside segments and a test', async () => {
  const not_opened_of = await givenFirst();
  given.peers.audience = crowd.slice(0, 100);
  given.peers.isInSegments = (email) => email >= 'p00050';
  given.peers.listOf = (email) => (email < 'p00070' ? 1 : 0);
  const key = await givenBroadcast(given, {
    ...{ status: 'testing', not_opened_of, further_lists: ['offers'], segments: ['vip'] },
    test_settings: { ...tested, sample_percentage: 100 },
  });
  await playSteps(given, key);
  expect(sent.toSorted()).toEqual([
    ['p00057', 'offers'],
    ['p00067', 'offers'],
    ['p00077', 'news'],
    ['p00087', 'news'],
    ['p00097', 'news'],
  ]);
});

test('a recipient who opens it while the audience is frozen is left out from there on', async () => {
  const not_opened_of = await givenFirst();
  const openedBy = new Set<string>();
  given.peers.isUnopened = (email) => {
    if (email === 'p00007') openedBy.add('p20007');
    return email.endsWith('7') && !openedBy.has(email);
  };
  const key = await givenBroadcast(given, { status: 'sending', not_opened_of });
  await playSteps(given, key);
  expect(emails()).toEqual(unopened.filter((email) => email !== 'p20007'));
});

test('messages that cannot be asked stop nothing for good, and nobody is mailed for it', async () => {
  const not_opened_of = await givenFirst();
  const key = await givenBroadcast(given, { status: 'sending', not_opened_of });
  const { listUnopened } = given.context.facts;
  given.context.facts.listUnopened = () => Promise.reject(new Error('away'));
  await expect(freeze(key)).rejects.toThrow('away');
  expect(await read(key)).toMatchObject({ status: BroadcastStatus.SENDING, enqueuedCount: 0 });
  given.context.facts.listUnopened = listUnopened;
  await playSteps(given, key);
  expect(emails()).toEqual(unopened);
});

/** The fault of the field `audience.not_opened_of`. */
async function faultOf(call: Promise<unknown>): Promise<string | undefined> {
  const error = await call.then(
    () => undefined,
    (thrown: ConnectError) => thrown,
  );
  if (!error) return undefined;
  expect(error).toMatchObject({ code: Code.InvalidArgument });
  expect(error.findDetails(BadRequestSchema)[0]?.fieldViolations).toMatchObject([
    { field: 'audience.not_opened_of' },
  ]);
  return error.rawMessage;
}

const estimate = (notOpenedOf: string) =>
  given.client.estimateAudience({ workspaceId, audience: { list: 'news', notOpenedOf } });

async function schedule(notOpenedOf: string, at: { sendNow?: true; scheduledDate?: string }) {
  const audience = { list: 'news', notOpenedOf };
  const { broadcast } = await given.client.createBroadcast({ ...draftContent, audience });
  const key = { workspaceId, id: broadcast?.id ?? '' };
  await given.client.scheduleBroadcast({ ...key, ...at, scheduledTime: '09:00' });
  return key;
}
const later = { scheduledDate: '2030-03-03' };

test('schedule, update and estimate refuse a broadcast that is missing, foreign, a draft or was never sent', async () => {
  const foreign = await givenFirst();
  await query(
    given.context.store.fork(),
    "update broadcasts set workspace_id = 'other' where id = $1",
    [foreign],
  );
  const draft = (await givenBroadcast(given)).id;
  const unsent = (await givenBroadcast(given, { status: 'cancelled' })).id;
  const scheduled = await schedule(await givenFirst(), later);
  for (const [id, fault] of [
    ['gone', 'broadcast gone not found'],
    [foreign, `broadcast ${foreign} not found`],
    [draft, `broadcast ${draft} is a draft`],
    [unsent, `broadcast ${unsent} was never sent`],
  ] as const) {
    expect(await faultOf(schedule(id, { sendNow: true }))).toBe(fault);
    expect(await faultOf(schedule(id, later))).toBe(fault);
    expect(await faultOf(estimate(id))).toBe(fault);
    const audience = { list: 'news', notOpenedOf: id };
    const updated = given.client.updateBroadcast({ ...draftContent, ...scheduled, audience });
    expect(await faultOf(updated)).toBe(fault);
  }
});

test('a broadcast cannot name itself', async () => {
  const key = await givenBroadcast(given);
  const audience = { list: 'news', notOpenedOf: key.id };
  await given.client.updateBroadcast({ ...draftContent, ...key, audience });
  const fault = 'a broadcast cannot go to those who did not open itself';
  expect(await faultOf(given.client.scheduleBroadcast({ ...key, sendNow: true }))).toBe(fault);
});

test('one that is not over may be named ahead of time, and pauses what starts before its end', async () => {
  const first = await givenBroadcast(given, { status: 'sending' });
  const fault = `broadcast ${first.id} is not over yet`;
  expect(await faultOf(schedule(first.id, { sendNow: true }))).toBe(fault);
  expect(await faultOf(estimate(first.id))).toBe(fault);
  const key = await schedule(first.id, later);
  given.clock.now = new Date('2030-03-03T09:00:00Z');
  expect(await playSteps(given, key)).toEqual({ do: 'wait', untilMs: null });
  expect(await read(key)).toMatchObject({
    status: BroadcastStatus.PAUSED,
    pauseReason: `not_opened_of: ${fault}`,
  });
  await given.client.cancelBroadcast(first);
  await given.client.resumeBroadcast(key);
  expect(await playSteps(given, key)).toEqual({ do: 'end' });
  expect(emails()).toEqual(unopened);
});

test('one that is deleted before the start pauses with a reason, and one deleted later changes nothing', async () => {
  given.peers.isUnopened = (email) => !email.endsWith('7');
  const [early, late] = [await givenFirst(), await givenFirst()];
  const key = await schedule(early, later);
  await given.client.deleteBroadcast({ workspaceId, id: early });
  given.clock.now = new Date('2030-03-03T09:00:00Z');
  expect(await playSteps(given, key)).toEqual({ do: 'wait', untilMs: null });
  expect(await read(key)).toMatchObject({
    status: BroadcastStatus.PAUSED,
    pauseReason: `not_opened_of: broadcast ${early} not found`,
  });
  const audience = { list: 'news', notOpenedOf: late };
  await given.client.updateBroadcast({ ...draftContent, ...key, audience });
  await given.client.resumeBroadcast(key);
  expect(await freeze(key)).toEqual({ hasMore: true });
  await given.client.deleteBroadcast({ workspaceId, id: late });
  expect(await playSteps(given, key)).toEqual({ do: 'end' });
  expect(emails()).toEqual(crowd.filter((email) => !email.endsWith('7')));
});

test('one whose messages are not kept any more is refused', async () => {
  given.peers.messageDays = 90;
  const startedAt = (days: number) => new Date(given.clock.now.getTime() - days * dayMs);
  const kept = await givenBroadcast(given, { status: 'sent', started_at: startedAt(89) });
  const old = await givenBroadcast(given, { status: 'sent', started_at: startedAt(91) });
  expect((await estimate(kept.id)).count).toBe(unopened.length);
  expect(await faultOf(estimate(old.id))).toBe(
    `the messages of broadcast ${old.id} are older than the 90 days for which they are kept`,
  );
});

test('two that name each other wait for a person', async () => {
  const one = await givenBroadcast(given, { status: 'scheduled', starts_at: given.clock.now });
  const other = await schedule(one.id, later);
  const audience = { list: 'news', notOpenedOf: other.id };
  await given.client.updateBroadcast({ ...draftContent, ...one, audience });
  given.clock.now = new Date('2030-03-03T09:00:00Z');
  for (const key of [one, other]) {
    expect(await playSteps(given, key)).toEqual({ do: 'wait', untilMs: null });
    expect(await read(key)).toMatchObject({ status: BroadcastStatus.PAUSED });
  }
  expect(sent).toEqual([]);
});

test('estimateAudience counts who did not open it, and says that opens are not exact', async () => {
  const id = await givenFirst();
  expect(await estimate(id)).toMatchObject({
    count: unopened.length,
    note: expect.stringContaining('Opens are not exact'),
  });
  const whole = await given.client.estimateAudience({ workspaceId, audience: { list: 'news' } });
  expect(whole).toMatchObject({ count: crowd.length });
  expect(whole.note).toBeUndefined();
});

test('a copy has the same narrowed audience', async () => {
  const id = await givenFirst();
  const { broadcast: copy } = await given.client.duplicateBroadcast(await schedule(id, later));
  expect(copy?.audience).toMatchObject({ list: 'news', notOpenedOf: id });
});

const givenDraft = async (notOpenedOf: string, segments: string[] = []) => {
  const audience = { list: 'news', segments, notOpenedOf };
  const { broadcast } = await given.client.createBroadcast({ ...draftContent, audience });
  return { workspaceId, id: broadcast?.id ?? '' };
};

/** The columns as the release before `not_opened_of` reads them. */
async function seenByEarlierRelease({ id }: BroadcastKey) {
  const [row] = await query<Record<'audience' | 'plan', StoredAudience | null>>(
    given.context.store.fork(),
    'select audience, plan from broadcasts where id = $1',
    [id],
  );
  return { audience: row?.audience?.segments, plan: row?.plan?.segments };
}

test('an earlier release finds a segment in the audience and the plan that cannot exist', async () => {
  const first = await givenFirst();
  const key = await givenDraft(first, ['vip']);
  const marked = ['vip', `not_opened_of:${first}`];
  expect(await seenByEarlierRelease(key)).toEqual({ audience: marked, plan: undefined });
  await given.client.scheduleBroadcast({ ...key, sendNow: true });
  await freeze(key);
  expect(await seenByEarlierRelease(key)).toEqual({ audience: marked, plan: marked });
  expect((await read(key))?.audience).toMatchObject({ segments: ['vip'], notOpenedOf: first });
  const idRule = createValidator().validate(
    CreateSegmentRequestSchema,
    create(CreateSegmentRequestSchema, { id: marked[1] ?? '' }),
  );
  expect(idRule.violations?.map(({ message }) => message)).toContain(
    'id must contain only lowercase letters, numbers, and underscores',
  );
  const { id } = await givenDraft(first);
  await given.client.updateBroadcast({ ...draftContent, workspaceId, id });
  expect(await seenByEarlierRelease({ workspaceId, id })).toMatchObject({ audience: [] });
});

/** The freeze takes more than one step for them. */
const isInMost = (email: string) => !email.endsWith('7');

test('one that an earlier release has paused goes on where it was', async () => {
  given.peers.isUnopened = isInMost;
  const key = await givenBroadcast(given, { status: 'sending', not_opened_of: await givenFirst() });
  expect(await freeze(key)).toEqual({ hasMore: true });
  const { plan: [segment] = [] } = await seenByEarlierRelease(key);
  await pauseBySystem(given.context)(key, `segment ${segment} does not exist any more`, 'fault');
  await given.client.resumeBroadcast(key);
  expect(await playSteps(given, key)).toEqual({ do: 'end' });
  expect(emails()).toEqual(crowd.filter(isInMost));
});

test('a segment of a request cannot stand for a broadcast', async () => {
  const segment = `not_opened_of:${await givenFirst()}`;
  const audience = { list: 'news', segments: ['vip', segment] };
  for (const call of [
    () => given.client.createBroadcast({ ...draftContent, audience }),
    () => given.client.estimateAudience({ workspaceId, audience }),
  ]) {
    const error: ConnectError = await call().catch((thrown) => thrown);
    expect(error).toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: `${segment} is no segment; name the broadcast in not_opened_of`,
    });
    const [violation] = error.findDetails(BadRequestSchema)[0]?.fieldViolations ?? [];
    expect(violation?.field).toBe('audience.segments[1]');
  }
});

test('a workspace counts who did not open a broadcast by turns', async () => {
  const id = await givenFirst();
  const { listAudience } = given.context.audience;
  let reading = 0;
  let most = 0;
  const gate = Promise.withResolvers<void>();
  given.context.audience.listAudience = async (...page) => {
    reading += 1;
    most = Math.max(most, reading);
    await gate.promise;
    reading -= 1;
    return listAudience(...page);
  };
  const counts = Array.from({ length: 6 }, () => estimate(id));
  await until('two are reading', async () => reading === 2);
  await given.client.getBroadcast({ workspaceId, id });
  expect(most).toBe(2);
  gate.resolve();
  expect((await Promise.all(counts)).map(({ count }) => count)).toEqual(
    Array(6).fill(unopened.length),
  );
  expect(most).toBe(2);
  given.context.audience.listAudience = listAudience;
});

test('one whose messages cease to be kept amid the freeze pauses with the reason', async () => {
  Object.assign(given.peers, { messageDays: 90, isUnopened: isInMost });
  const named = await givenFirst();
  const key = await givenBroadcast(given, { status: 'sending', not_opened_of: named });
  expect(await freeze(key)).toEqual({ hasMore: true });
  const { enqueuedCount } = { ...(await read(key)) };
  await given.client.deleteBroadcast({ workspaceId, id: named });
  given.clock.now = new Date(given.clock.now.getTime() + 90 * dayMs + 1);
  given.peers.isUnopened = () => false;
  expect(await playSteps(given, key)).toEqual({ do: 'wait', untilMs: null });
  expect(await read(key)).toMatchObject({
    status: BroadcastStatus.PAUSED,
    pauseReason: `not_opened_of: the messages of broadcast ${named} are older than the 90 days for which they are kept`,
    enqueuedCount,
  });
  Object.assign(given.peers, { messageDays: 365, isUnopened: isInMost });
  await given.client.resumeBroadcast(key);
  expect(await playSteps(given, key)).toEqual({ do: 'end' });
  expect(emails()).toEqual(crowd.filter(isInMost));
});

test('a page that is read while messages cease to be kept is not stored', async () => {
  given.peers.messageDays = 90;
  const key = await givenBroadcast(given, { status: 'sending', not_opened_of: await givenFirst() });
  given.peers.isUnopened = (email) => {
    if (email === 'p00000') given.clock.now = new Date(given.clock.now.getTime() + 91 * dayMs);
    return false;
  };
  expect(await playSteps(given, key)).toEqual({ do: 'wait', untilMs: null });
  expect(await read(key)).toMatchObject({ status: BroadcastStatus.PAUSED, enqueuedCount: 0 });
});

test('200,000 members of whom nobody got it are read with signs of life, and nobody is mailed', async () => {
  given.peers.audience = Array.from(
    { length: 200_000 },
    (_, n) => `p${String(n).padStart(6, '0')}`,
  );
  given.peers.isUnopened = () => false;
  const { listUnopened } = given.context.facts;
  const env = new MockActivityEnvironment();
  let beats = 0;
  let reads = 0;
  env.on('heartbeat', () => {
    beats += 1;
  });
  given.context.facts.listUnopened = (...page) => {
    reads += 1;
    expect(beats).toBeGreaterThanOrEqual(reads);
    return listUnopened(...page);
  };
  const key = await givenBroadcast(given, { status: 'sending', not_opened_of: await givenFirst() });
  await env.run(() => freezeAudience(given.context)(key));
  given.context.facts.listUnopened = listUnopened;
  expect(await playSteps(given, key)).toEqual({ do: 'end' });
  expect(await read(key)).toMatchObject({ status: BroadcastStatus.SENT, enqueuedCount: 0 });
  expect(sent).toEqual([]);
});
