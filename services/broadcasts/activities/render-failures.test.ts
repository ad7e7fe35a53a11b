import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { beforeEach, expect, test } from '@jest/globals';
import {
  type SendBatchRequest,
  SendBatchResponseSchema,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import { givenBroadcast, tested, useService } from '../test/given.ts';
import { playSteps, runActivity } from '../test/play.ts';
import { pauseForUnrendered } from './pause-for-unrendered.ts';
import { readPlan } from './read-plan.ts';
import { sendSlice } from './send-slice.ts';

const given = useService();
let asked: string[];
beforeEach(() => {
  asked = [];
  given.peers.audience = people(1_000);
  given.peers.ratePerMinute = 600_000;
});

type Key = { workspaceId: string; id: string };
const people = (count: number) =>
  Array.from({ length: count }, (_, index) => `p${String(index).padStart(5, '0')}@example.com`);
const look = (key: Key) => readPlan(given.context)(key);
const end = { do: 'end' };
const waitsForAPerson = { do: 'wait', untilMs: null };

/** The answer of messages where some recipients' messages can't be rendered. */
function answer({ emails, plan }: SendBatchRequest, isBad: (email: string, id: string) => boolean) {
  asked.push(...emails);
  const unrendered = emails.filter((email) => isBad(email, plan?.templateId ?? '')).length;
  const unrenderedReason = unrendered > 0 ? 'Invalid time zone specified' : '';
  const sent = emails.length - unrendered;
  return create(SendBatchResponseSchema, {
    ...{ sent, failed: unrendered, unrendered, unrenderedReason },
  });
}

/** The answer of messages where one message in `share` can't be rendered. */
const oneIn = (share: number) => (request: SendBatchRequest) =>
  answer(request, (email) => Number(email.slice(1, 6)) % share === 0);

test('a broadcast pauses with the reason when more than a tenth fails to render, and resume sends the rest', async () => {
  given.peers.sendBatch = oneIn(5);
  const key = await givenBroadcast(given, { status: 'sending' });
  expect(await playSteps(given, key)).toEqual(waitsForAPerson);
  expect(asked).toHaveLength(600);
  expect((await look(key)).story).toMatchObject({
    status: 'paused',
    pausedBy: 'system',
    reason: '120 of 600 messages could not be rendered: Invalid time zone specified',
    counts: { sent: 480, failed: 120 },
  });
  await given.client.resumeBroadcast(key);
  expect(await playSteps(given, key)).toEqual(end);
  expect(asked).toEqual(people(1_000));
  expect((await look(key)).story).toMatchObject({
    status: 'sent',
    counts: { sent: 800, failed: 200 },
  });
});

test.each([
  ['nine of a few', 9, 1],
  ['a tenth of many', 1_000, 10],
])('%s stop nothing', async (_, count, share) => {
  given.peers.audience = people(count);
  given.peers.sendBatch = oneIn(share);
  const key = await givenBroadcast(given, { status: 'sending' });
  expect(await playSteps(given, key)).toEqual(end);
  expect((await look(key)).story.status).toBe('sent');
});

test('the failures of small slices add up', async () => {
  given.peers.ratePerMinute = 4;
  given.peers.sendBatch = oneIn(1);
  const key = await givenBroadcast(given, { status: 'sending' });
  expect(await playSteps(given, key)).toEqual(waitsForAPerson);
  expect(asked).toHaveLength(16);
  expect((await look(key)).story.reason).toMatch(/^16 of 16 messages could not be rendered: /);
});

test('after a crash known outcomes come from the record, and nobody else is sent to', async () => {
  given.peers.sendBatch = oneIn(5);
  const key = await givenBroadcast(given, { status: 'sending' });
  await playSteps(given, key);
  const paused = asked.length;
  const em = given.context.store.fork();
  const values = [key.workspaceId, key.id];
  const row = "update broadcasts set status = 'sending', bears_unrendered = false";
  await em.getConnection().execute(`${row} where workspace_id = ? and id = ?`, values);
  await runActivity(() => sendSlice(given.context)({ ...key, slice: 0 }));
  expect(asked).toHaveLength(paused);
  expect((await look(key)).step).toEqual({ do: 'pauseForUnrendered' });
});

test("a person's pause at the same moment keeps the fault for whoever resumes", async () => {
  let pausing: Promise<unknown> | undefined;
  given.peers.sendBatch = async (request) => {
    pausing ??= given.client.pauseBroadcast(key);
    await pausing;
    return oneIn(1)(request);
  };
  const key = await givenBroadcast(given, { status: 'sending' });
  expect(await playSteps(given, key)).toEqual(waitsForAPerson);
  await pauseForUnrendered(given.context)(key);
  expect((await look(key)).story).toMatchObject({ pausedBy: 'person', reason: null });
  await given.client.resumeBroadcast(key);
  expect((await look(key)).step).toEqual({ do: 'pauseForUnrendered' });
});

test('a broadcast pauses even after its last message, and resume ends it', async () => {
  given.peers.audience = people(20);
  given.peers.sendBatch = oneIn(1);
  const key = await givenBroadcast(given, { status: 'sending' });
  expect(await playSteps(given, key)).toEqual(waitsForAPerson);
  await given.client.resumeBroadcast(key);
  expect(await playSteps(given, key)).toEqual(end);
  expect((await look(key)).story).toMatchObject({ status: 'sent', counts: { failed: 20 } });
});

test('a variation that fails to render pauses the test, and resume continues it', async () => {
  given.peers.sendBatch = (request) => answer(request, (_, templateId) => templateId === 'b');
  const key = await givenBroadcast(given, { status: 'testing', test_settings: tested });
  expect(await playSteps(given, key)).toEqual(waitsForAPerson);
  expect((await look(key)).story.reason).toMatch(/^250 of 250 messages could not be rendered: /);
  await given.client.resumeBroadcast(key);
  expect(await playSteps(given, key)).toMatchObject({ do: 'wait' });
  expect((await look(key)).story.status).toBe('test_completed');
});

test('deferred messages that fail to render later count with all others', async () => {
  const due = new Date(given.clock.now.getTime() + 60_000);
  given.peers.sendBatch = (request) => {
    const isFirst = request.emails.includes('p00000@example.com');
    if (!isFirst) return answer(request, () => false);
    const deferred = 80;
    const sent = request.emails.length - deferred;
    return create(SendBatchResponseSchema, {
      ...{ sent, deferred, nextDueAt: timestampFromDate(due) },
    });
  };
  const key = await givenBroadcast(given, { status: 'sending' });
  expect(await playSteps(given, key)).toEqual({ do: 'wait', untilMs: due.getTime() });
  given.clock.now = due;
  given.peers.sendBatch = (request) => answer(request, (email) => Number(email.slice(1, 6)) < 80);
  expect(await playSteps(given, key)).toEqual(end);
  expect((await look(key)).story.counts).toMatchObject({ sent: 920, failed: 80 });
});
