import { setTimeout as sleep } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import {
  type SendBatchRequest,
  SendBatchResponseSchema,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { workflowIdOf } from '../lifecycle/run.ts';
import { givenBroadcast, useService, wakes } from '../test/given.ts';
import { allSent } from '../test/given-peers.ts';
import { playSteps, runActivity } from '../test/play.ts';
import { freezeAudience } from './freeze-audience.ts';
import { readPlan } from './read-plan.ts';
import { sendSlice } from './send-slice.ts';
import { settle } from './settle.ts';

const given = useService();
/** Recipients with a message, and recipients in flight. */
let record: Set<string>;
let inFlight: Set<string>;
beforeEach(() => {
  record = new Set();
  inFlight = new Set();
  given.peers.audience = Array.from(
    { length: 1_000 },
    (_, index) => `p${String(index).padStart(5, '0')}@example.com`,
  );
  given.peers.sendBatch = sendSlowly;
  given.peers.getBatchOutcomes = ({ emails }) => {
    const sent = emails.filter((email) => record.has(email)).length;
    const outcomes = { sent, notStarted: emails.length - sent };
    return { outcomes, inFlight: emails.filter((email) => inFlight.has(email)).length };
  };
});

type Key = { workspaceId: string; id: string };
const send = (key: Key) => runActivity(() => sendSlice(given.context)({ ...key, slice: 0 }));
const look = (key: Key) => readPlan(given.context)(key);
const read = async (key: Key) => (await given.client.getBroadcast(key)).broadcast;
const waitsForAPerson = { do: 'wait', untilMs: null };

async function givenFrozen(): Promise<Key> {
  const key = await givenBroadcast(given, { status: 'sending' });
  await runActivity(() => freezeAudience(given.context)(key));
  return key;
}

/**
 * Sends one message after the other until its signal aborts, and then answers nothing about them.
 */
async function sendSlowly({ emails }: SendBatchRequest, stop?: AbortSignal) {
  for (const email of emails) {
    if (stop?.aborted) throw new ConnectError('stopped', Code.Canceled);
    if (record.has(email)) continue;
    record.add(email);
    await sleep(3);
  }
  return create(SendBatchResponseSchema, { sent: emails.length });
}

async function untilSent(count: number): Promise<void> {
  while (record.size < count) await sleep(5);
}

const deleteRefused = {
  code: Code.FailedPrecondition,
  rawMessage: expect.stringMatching(/^cannot delete a paused broadcast/),
};

test('messages sent by batches that a pause stops are counted, and the rest is sent once', async () => {
  const key = await givenFrozen();
  const sending = send(key);
  await untilSent(50);
  await given.client.pauseBroadcast(key);
  await expect(given.client.deleteBroadcast(key)).rejects.toMatchObject(deleteRefused);
  await sending;
  const out = record.size;
  expect(out).toBeLessThan(600);
  expect(await read(key)).toMatchObject({ sentCount: out });
  await expect(given.client.deleteBroadcast(key)).rejects.toMatchObject(deleteRefused);
  expect((await look(key)).step).toEqual(waitsForAPerson);
  await given.client.resumeBroadcast(key);
  given.peers.sendBatch = allSent;
  expect(await playSteps(given, key)).toEqual({ do: 'end' });
  expect(await read(key)).toMatchObject({ sentCount: 1_000 });
});

test('messages sent by batches that a cancel stops are counted', async () => {
  const key = await givenFrozen();
  const sending = send(key);
  await untilSent(50);
  await given.client.cancelBroadcast(key);
  await sending;
  expect(await read(key)).toMatchObject({ sentCount: record.size });
  expect((await look(key)).step).toEqual({ do: 'end' });
});

test.each([
  ['hears of it', true],
  ['sees only that the broadcast is over', false],
])(
  'a run that was cancelled is woken once it is counted, where its activity %s',
  async (_, hears) => {
    const key = await givenFrozen();
    const activity = new MockActivityEnvironment();
    const sending = activity.run(() => sendSlice(given.context)({ ...key, slice: 0 }));
    await untilSent(50);
    await given.client.cancelBroadcast(key);
    if (hears) activity.cancel();
    await query(given.context.store.fork(), 'delete from broadcasts_jobs._private_jobs', []);
    await sending;
    expect(await read(key)).toMatchObject({ sentCount: record.size });
    expect(await wakes(given)).toEqual([workflowIdOf(key)]);
  },
);

test('messages sent during an outage are counted', async () => {
  let calls = 0;
  given.peers.sendBatch = (request, stop) => {
    calls += 1;
    const outage = create(SendBatchResponseSchema, { outage: 'connection refused' });
    return calls === 3 ? sleep(20).then(() => outage) : sendSlowly(request, stop);
  };
  const key = await givenFrozen();
  expect(await send(key)).toEqual({ outage: 'connection refused' });
  expect(record.size).toBeGreaterThan(0);
  expect(await read(key)).toMatchObject({ sentCount: record.size });
});

test('slow answers of a server are counted by a later step, and nothing is deleted before', async () => {
  const key = await givenFrozen();
  const sending = send(key);
  await untilSent(50);
  inFlight.add(given.peers.audience[300] ?? '');
  await given.client.pauseBroadcast(key);
  await sending;
  const out = record.size;
  expect(await read(key)).toMatchObject({ sentCount: out });
  const { step } = await look(key);
  expect(step).toEqual({ do: 'wait', untilMs: expect.any(Number) });
  await expect(given.client.deleteBroadcast(key)).rejects.toMatchObject(deleteRefused);
  given.clock.now = new Date(Number('untilMs' in step && step.untilMs));
  expect((await look(key)).step).toEqual({ do: 'settle' });
  record.add(given.peers.audience[300] ?? '');
  inFlight.clear();
  expect(await playSteps(given, key)).toEqual(waitsForAPerson);
  expect(await read(key)).toMatchObject({ sentCount: out + 1 });
});

test('activities of a worker that ends begin nothing', async () => {
  const key = await givenFrozen();
  const ending = new MockActivityEnvironment();
  ending.cancel();
  await ending.run(() => sendSlice(given.context)({ ...key, slice: 0 }));
  expect(record.size).toBe(0);
  const sending = send(key);
  await untilSent(50);
  inFlight.add(given.peers.audience[300] ?? '');
  await given.client.pauseBroadcast(key);
  await sending;
  const { step } = await look(key);
  given.clock.now = new Date(Number('untilMs' in step && step.untilMs));
  await ending.run(() => settle(given.context)(key));
  expect((await look(key)).step).toEqual({ do: 'settle' });
});

test('a stopped pass over deferred recipients shows its outcomes', async () => {
  const due = new Date(given.clock.now.getTime() + 60_000);
  given.peers.sendBatch = ({ emails }) => {
    for (const email of emails.slice(0, 100)) record.add(email);
    return create(SendBatchResponseSchema, {
      ...{ sent: 100, deferred: emails.length - 100, nextDueAt: timestampFromDate(due) },
    });
  };
  const key = await givenFrozen();
  await send(key);
  given.clock.now = due;
  given.peers.sendBatch = sendSlowly;
  const sending = send(key);
  await untilSent(550);
  await given.client.pauseBroadcast(key);
  await sending;
  expect(await read(key)).toMatchObject({ sentCount: record.size });
  await given.client.resumeBroadcast(key);
  expect(await playSteps(given, key)).toEqual({ do: 'end' });
  expect(await read(key)).toMatchObject({ sentCount: 1_000 });
});

test.each(['pause', 'cancel'] as const)(
  'messages of a worker that died before a %s are counted once none of its calls can be open',
  async (action) => {
    const key = await givenFrozen();
    // The state that a killed worker leaves: its calls are open, and nobody will report their
    // outcomes.
    const diedAtMs = given.clock.now.getTime() + 80_000;
    await query(
      given.context.store.fork(),
      'update slices set settle_at = $3 where workspace_id = $1 and broadcast_id = $2',
      [key.workspaceId, key.id, new Date(diedAtMs)],
    );
    for (const email of given.peers.audience.slice(0, 169)) record.add(email);
    await given.client[`${action}Broadcast`](key);
    expect((await look(key)).step).toEqual({ do: 'wait', untilMs: diedAtMs });
    given.clock.now = new Date(diedAtMs);
    await playSteps(given, key);
    expect(await read(key)).toMatchObject({ sentCount: 169 });
  },
);

test('nothing counts as counted while messages is unavailable', async () => {
  given.peers.getBatchOutcomes = () => {
    throw new ConnectError('down', Code.Unavailable);
  };
  const key = await givenFrozen();
  const sending = send(key);
  await untilSent(50);
  await given.client.pauseBroadcast(key);
  await sending;
  given.clock.now = new Date(given.clock.now.getTime() + 600_000);
  expect(await playSteps(given, key)).toEqual({ do: 'wait', untilMs: expect.any(Number) });
  await expect(given.client.deleteBroadcast(key)).rejects.toMatchObject(deleteRefused);
});
