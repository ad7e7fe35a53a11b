import { Code, type ConnectError } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { BadRequestSchema } from '#gen/google/rpc/error_details_pb.ts';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { freezeAudience } from '../activities/freeze-audience.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
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
