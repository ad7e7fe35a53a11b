import { setTimeout as sleep } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { durationFromMs, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import {
  type SendBatchRequest,
  SendBatchResponseSchema,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import { givenBroadcast, useService } from '../test/given.ts';
import { allSent } from '../test/given-peers.ts';
import { untilSliceSeesChange } from '../test/play.ts';
import { finish } from './finish.ts';
import { freezeAudience } from './freeze-audience.ts';
import { pauseBySystem } from './pause-by-system.ts';
import { readPlan } from './read-plan.ts';
import { resumeAfterOutage } from './resume-after-outage.ts';
import { sendSlice } from './send-slice.ts';

const given = useService();
beforeEach(() => {
  const audience = Array.from(
    { length: 1_000 },
    (_, index) => `p${String(index).padStart(5, '0')}@example.com`,
  );
  Object.assign(given.peers, {
    audience,
    hasTemplate: true,
    ratePerMinute: 600_000,
    sendBatch: allSent,
  });
});

const run = <Result>(work: () => Promise<Result>) => new MockActivityEnvironment().run(work);
type Key = { workspaceId: string; id: string };
const freeze = (key: Key) => run(() => freezeAudience(given.context)(key));
const send = (key: Key, slice = 0) => run(() => sendSlice(given.context)({ ...key, slice }));
const look = (key: Key) => readPlan(given.context)(key);

async function givenFrozen(): Promise<Key> {
  const key = await givenBroadcast(given, { status: 'sending' });
  await freeze(key);
  return key;
}

test('freezing copies the audience once and cuts it into slices of a minute', async () => {
  given.peers.ratePerMinute = 300;
  const key = await givenFrozen();
  await freeze(key);
  const { story, step } = await look(key);
  expect(story.recipients).toBe(1_000);
  expect(step).toEqual({ do: 'send', slices: [0, 1] });
});

test('a step has the slices that are sent within a minute, eight at most', async () => {
  const audience = Array.from({ length: 50_000 }, (_, index) => `p${index}@example.com`).toSorted();
  Object.assign(given.peers, { audience, ratePerMinute: 16_000 });
  const key = await givenFrozen();
  while ((await look(key)).story.isFreezing) await freeze(key);
  expect((await look(key)).step).toEqual({ do: 'send', slices: [0, 1, 2] });
  given.peers.ratePerMinute = 600_000;
  const fast = await givenFrozen();
  while ((await look(fast)).story.isFreezing) await freeze(fast);
  const { step } = await look(fast);
  expect(step).toEqual({ do: 'send', slices: [0, 1, 2, 3, 4, 5, 6, 7] });
});

test('freezing is NOT_FOUND where the template is gone', async () => {
  given.peers.hasTemplate = false;
  const key = await givenBroadcast(given, { status: 'sending' });
  await expect(freeze(key)).rejects.toMatchObject({ code: Code.NotFound });
});

test('freezing a broadcast that was paused meanwhile keeps nothing', async () => {
  const key = await givenBroadcast(given, { status: 'paused', paused_from: 'sending' });
  await freeze(key);
  expect((await look(key)).story.recipients).toBe(0);
});

test('sending requests everybody once, in batches of 200, and finishes', async () => {
  const asked: string[] = [];
  given.peers.sendBatch = (request) => {
    asked.push(...request.emails);
    expect(request.emails.length).toBeLessThanOrEqual(200);
    expect(request.plan).toMatchObject({
      templateVersion: 7,
      integrationId: 'smtp',
      listName: 'News',
    });
    return allSent(request);
  };
  const key = await givenFrozen();
  await send(key);
  expect(asked).toEqual(given.peers.audience);
  expect((await look(key)).step).toEqual({ do: 'finish' });
  await finish(given.context)(key);
  expect((await look(key)).story).toMatchObject({ status: 'sent', counts: { sent: 1_000 } });
});

test('a batch is no larger than a second of sending', async () => {
  given.peers.ratePerMinute = 600;
  const sizes = new Set<number>();
  given.peers.sendBatch = (request) => {
    sizes.add(request.emails.length);
    return allSent(request);
  };
  await send(await givenFrozen());
  expect([...sizes]).toEqual([10]);
});

test('recipients that were not started are requested again', async () => {
  let first = true;
  given.peers.sendBatch = ({ emails }) => {
    const notStarted = first ? emails.length : 0;
    first = false;
    return create(SendBatchResponseSchema, { notStarted, sent: emails.length - notStarted });
  };
  const key = await givenFrozen();
  await send(key);
  expect((await look(key)).story.counts.sent).toBe(1_000);
});

test('a service that is unavailable for a moment is called again', async () => {
  let failures = 2;
  given.peers.sendBatch = (request) => {
    if (failures > 0) {
      failures -= 1;
      throw new ConnectError('down', Code.Unavailable);
    }
    return allSent(request);
  };
  const key = await givenFrozen();
  await send(key);
  expect((await look(key)).story.counts.sent).toBe(1_000);
});

test('only the first call for recipients says that it is the first', async () => {
  const asked: [first: string | undefined, isFirstCall: boolean][] = [];
  given.peers.sendBatch = async (request) => {
    const { emails, isFirstCall } = request;
    asked.push([emails[0], isFirstCall]);
    // The pause is noticed while the first batch waits, however busy the machine is.
    const retryAfter = durationFromMs(60_000);
    if (asked.length === 1) {
      return create(SendBatchResponseSchema, { notStarted: emails.length, retryAfter });
    }
    if (emails[0] === 'p00400@example.com') await given.client.pauseBroadcast(key);
    return allSent(request);
  };
  const key = await givenFrozen();
  expect(await send(key)).toEqual({ outage: '', isUnfinished: true });
  expect(asked.slice(0, 3)).toEqual([
    ['p00000@example.com', true],
    ['p00200@example.com', true],
    ['p00400@example.com', true],
  ]);
  expect(asked).not.toContainEqual(['p00600@example.com', true]);
  asked.length = 1;
  await given.client.resumeBroadcast(key);
  given.peers.sendBatch = (request) => {
    asked.push([request.emails[0], request.isFirstCall]);
    return allSent(request);
  };
  expect(await send(key)).toEqual({ outage: '' });
  expect(asked.slice(1).map(([, isFirstCall]) => isFirstCall)).not.toContain(true);
  expect((await look(key)).story.counts.sent).toBe(1_000);
});

test('a pause stops a slice that is being sent, and resume sends the rest', async () => {
  const asked: string[] = [];
  const changeSeen = untilSliceSeesChange(given);
  given.peers.sendBatch = async (request: SendBatchRequest) => {
    asked.push(...request.emails);
    if (asked.length === 200) await given.client.pauseBroadcast(key);
    await changeSeen;
    return allSent(request);
  };
  const key = await givenFrozen();
  await send(key);
  const before = asked.length;
  expect(before).toBeLessThan(1_000);
  await given.client.resumeBroadcast(key);
  given.peers.sendBatch = (request) => {
    asked.push(...request.emails);
    return allSent(request);
  };
  await send(key);
  expect(asked.slice(before)).not.toContain(asked[0]);
  expect((await look(key)).story.counts.sent).toBe(1_000);
});

test('deferred recipients are waited for and sent in another pass', async () => {
  const due = new Date(given.clock.now.getTime() + 60_000);
  given.peers.sendBatch = ({ emails }) =>
    create(SendBatchResponseSchema, {
      sent: emails.length - 1,
      deferred: 1,
      nextDueAt: timestampFromDate(due),
    });
  const key = await givenFrozen();
  await send(key);
  expect((await look(key)).step).toEqual({ do: 'wait', untilMs: due.getTime() });
  expect((await look(key)).story.counts).toMatchObject({ sent: 995, deferred: 5 });
  given.clock.now = due;
  expect((await look(key)).step).toEqual({ do: 'send', slices: [0] });
  given.peers.sendBatch = allSent;
  await send(key);
  expect((await look(key)).step).toEqual({ do: 'finish' });
});

test('slices with mail that is due again and again take turns with those that were not begun', async () => {
  given.peers.ratePerMinute = 200;
  const key = await givenFrozen();
  const due = new Date(given.clock.now.getTime() + 10_000);
  given.peers.sendBatch = ({ emails }) =>
    create(SendBatchResponseSchema, {
      sent: emails.length - 1,
      deferred: 1,
      nextDueAt: timestampFromDate(due),
    });
  for (const slice of [0, 1]) await send(key, slice);
  expect((await look(key)).step).toEqual({ do: 'send', slices: [2, 3] });
  given.clock.now = due;
  expect((await look(key)).step).toEqual({ do: 'send', slices: [2, 0] });
});

test('an outage pauses with its reason and is tried again after 1, 2, 5, 15 and 15 minutes', async () => {
  given.peers.sendBatch = () => create(SendBatchResponseSchema, { outage: 'connection refused' });
  const key = await givenFrozen();
  expect(await send(key)).toEqual({ outage: 'connection refused' });
  for (const minutes of [1, 2, 5, 15, 15]) {
    await pauseBySystem(given.context)(key, 'connection refused', 'outage');
    const { step, story } = await look(key);
    expect(story).toMatchObject({
      status: 'paused',
      pausedBy: 'system',
      reason: 'connection refused',
    });
    const untilMs = given.clock.now.getTime() + minutes * 60_000;
    expect(step).toEqual({ do: 'wait', untilMs });
    given.clock.now = new Date(untilMs);
    expect((await look(key)).step).toEqual({ do: 'resume' });
    await resumeAfterOutage(given.context)(key);
    expect((await look(key)).story.status).toBe('sending');
  }
});

test('an outage whose end is known is retried then, and does not lengthen later waits', async () => {
  const endsAt = new Date(given.clock.now.getTime() + 7 * 3_600_000);
  const outage = 'warm-up limit of 50 messages a day reached';
  given.peers.sendBatch = ({ emails }) =>
    create(SendBatchResponseSchema, {
      notStarted: emails.length,
      outage,
      outageEndsAt: timestampFromDate(endsAt),
    });
  const key = await givenFrozen();
  expect(await send(key)).toEqual({ outage, outageEndsAtMs: endsAt.getTime() });
  await pauseBySystem(given.context)(key, outage, 'outage', endsAt.getTime());
  const paused = await look(key);
  expect(paused.step).toEqual({ do: 'wait', untilMs: endsAt.getTime() });
  expect(paused.story).toMatchObject({ status: 'paused', pausedBy: 'system', reason: outage });
  given.clock.now = endsAt;
  await resumeAfterOutage(given.context)(key);
  expect((await look(key)).story.status).toBe('sending');
  await pauseBySystem(given.context)(key, 'connection refused', 'outage');
  expect((await look(key)).step).toEqual({ do: 'wait', untilMs: endsAt.getTime() + 60_000 });
});

/** One recipient of a batch is sent to, and then the provider is away. */
const halfSent = ({ emails }: SendBatchRequest) =>
  create(SendBatchResponseSchema, { sent: 1, notStarted: emails.length - 1, outage: 'away' });
const dayMs = 24 * 60 * 60 * 1_000;
const later = (days: number) => {
  given.clock.now = new Date(given.clock.now.getTime() + days * dayMs);
};

test('pauses of one half-sent slice add up: none is lifted once they came to 60 days', async () => {
  given.peers.sendBatch = halfSent;
  const key = await givenFrozen();
  await send(key);
  await given.client.pauseBroadcast(key);
  later(59);
  await given.client.resumeBroadcast(key);
  await send(key);
  await given.client.pauseBroadcast(key);
  later(2);
  await expect(given.client.resumeBroadcast(key)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: expect.stringContaining('did not finish it in 60 days'),
  });
});

test('an outage that has cut a slice for 60 days waits for a person', async () => {
  given.peers.sendBatch = halfSent;
  const key = await givenFrozen();
  await send(key);
  later(61);
  await pauseBySystem(given.context)(key, 'away', 'outage');
  later(1);
  await resumeAfterOutage(given.context)(key);
  const { step, story } = await look(key);
  expect(story).toMatchObject({
    status: 'paused',
    reason: expect.stringContaining('did not finish it in 60 days'),
  });
  expect(step).not.toEqual({ do: 'resume' });
});

test('a broadcast that finished its slices in time is resumed, however long ago it began', async () => {
  given.peers.ratePerMinute = 600;
  const key = await givenFrozen();
  await send(key);
  later(100);
  await given.client.pauseBroadcast(key);
  await given.client.resumeBroadcast(key);
  expect((await look(key)).story.status).toBe('sending');
});

test("a person's pause is never lifted by itself", async () => {
  const key = await givenFrozen();
  await given.client.pauseBroadcast(key);
  expect((await look(key)).step).toEqual({ do: 'wait', untilMs: null });
  await resumeAfterOutage(given.context)(key);
  expect((await look(key)).story.status).toBe('paused');
});

test('an empty audience is sent at once', async () => {
  given.peers.audience = [];
  const key = await givenFrozen();
  expect((await look(key)).step).toEqual({ do: 'finish' });
  await finish(given.context)(key);
  expect((await look(key)).story.status).toBe('sent');
});

test('40 broadcasts that one workspace starts at once send six slices at a time, and all are sent', async () => {
  const keys: Key[] = [];
  for (let count = 0; count < 40; count += 1) keys.push(await givenFrozen());
  const underWay = new Map<string, number>();
  let most = 0;
  let waits = 0;
  const full = Promise.withResolvers<void>();
  /** Until all 40 have come, none ends: 6 are at work, 16 wait here, and the others come again. */
  const noteComing = () => {
    if (underWay.size >= 6 && waits >= 40 - 6 - 16) full.resolve();
  };
  given.peers.sendBatch = async (request) => {
    const { broadcastId } = request;
    underWay.set(broadcastId, (underWay.get(broadcastId) ?? 0) + 1);
    most = Math.max(most, underWay.size);
    noteComing();
    await full.promise;
    await sleep(30);
    const left = (underWay.get(broadcastId) ?? 1) - 1;
    if (left > 0) underWay.set(broadcastId, left);
    else underWay.delete(broadcastId);
    return allSent(request);
  };
  const sendInTheEnd = async (key: Key): Promise<void> => {
    try {
      await send(key);
    } catch (error) {
      expect(error).toMatchObject({ type: 'NotYet', nonRetryable: false });
      waits += 1;
      noteComing();
      await sleep(50);
      await sendInTheEnd(key);
    }
  };
  await Promise.all(keys.map(sendInTheEnd));
  expect(most).toBe(6);
  for (const key of keys) expect((await look(key)).step).toEqual({ do: 'finish' });
});
