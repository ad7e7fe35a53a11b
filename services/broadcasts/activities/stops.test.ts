import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { SendBatchResponseSchema } from '#gen/postrider/messages/v1/messages_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { givenBroadcast, useService } from '../test/given.ts';
import { allSent } from '../test/given-peers.ts';
import { runActivity } from '../test/play.ts';
import { begin } from './begin.ts';
import { completeTest } from './complete-test.ts';
import { failBroadcast } from './fail-broadcast.ts';
import { finish } from './finish.ts';
import { freezeAudience } from './freeze-audience.ts';
import { pauseBySystem } from './pause-by-system.ts';
import { pauseForUnrendered } from './pause-for-unrendered.ts';
import { pickWinner } from './pick-winner.ts';
import { readPlan } from './read-plan.ts';
import { resumeAfterOutage } from './resume-after-outage.ts';
import { sendSlice } from './send-slice.ts';
import { settle } from './settle.ts';

const given = useService();
beforeEach(() => {
  given.peers.audience = Array.from(
    { length: 1_000 },
    (_, index) => `p${String(index).padStart(5, '0')}@example.com`,
  );
  given.peers.sendBatch = allSent;
});

type Key = { workspaceId: string; id: string };
const send = (key: Key) => runActivity(() => sendSlice(given.context)({ ...key, slice: 0 }));
const look = (key: Key) => readPlan(given.context)(key);

async function givenFrozen(): Promise<Key> {
  const key = await givenBroadcast(given, { status: 'sending' });
  await runActivity(() => freezeAudience(given.context)(key));
  return key;
}

test('a refused call ends its slice after the other calls, and leaves no unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  const ended: number[] = [];
  let calls = 0;
  given.peers.sendBatch = async (request) => {
    calls += 1;
    const call = calls;
    if (call === 2) throw new ConnectError('Invalid token', Code.Unauthenticated);
    await sleep(call * 50);
    ended.push(call);
    if (call === 3) throw new ConnectError('Invalid token', Code.Unauthenticated);
    return allSent(request);
  };
  const key = await givenFrozen();
  await expect(send(key)).rejects.toMatchObject({ code: Code.Unauthenticated });
  await sleep(0);
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
  expect(calls).toBe(3);
  expect(ended).toEqual([1, 3]);
  expect((await look(key)).story.counts.sent).toBe(200);
});

test('a call with a permanent failure is tried a few times, and then fails the slice', async () => {
  let calls = 0;
  given.peers.sendBatch = () => {
    calls += 1;
    throw new ConnectError('internal error', Code.Internal);
  };
  const key = await givenFrozen();
  await expect(send(key)).rejects.toMatchObject({ code: Code.Internal });
  expect(calls).toBeLessThanOrEqual(15);
});

test('a pause that ends before the row is checked still stops the calls', async () => {
  const key = await givenFrozen();
  let [isStarted, isStopped] = [false, false];
  given.peers.sendBatch = async (request, stop) => {
    if (!stop || isStopped) return allSent(request);
    isStarted = true;
    await Promise.race([once(stop, 'abort'), sleep(3_000)]);
    isStopped ||= stop.aborted;
    throw new ConnectError('stopped', Code.Canceled);
  };
  const sending = send(key);
  while (!isStarted) await sleep(5);
  await given.client.pauseBroadcast(key);
  await given.client.resumeBroadcast(key);
  await sending;
  expect(isStopped).toBe(true);
});

test('a slice that cannot begin leaves nothing running', async () => {
  const key = await givenFrozen();
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const { store } = given.context;
  await query(
    store.fork(),
    `update broadcasts set plan = plan || '{"has_global_feed": true}' where id = $1`,
    [key.id],
  );
  await query(store.fork(), 'alter table global_feeds rename to away', []);
  const before = timers();
  await expect(send(key)).rejects.toThrow(/global_feeds/);
  await query(store.fork(), 'alter table away rename to global_feeds', []);
  expect(timers()).toBeLessThanOrEqual(before);
});

test('outages are counted from the start once something was sent', async () => {
  let sends = true;
  given.peers.sendBatch = (request) => {
    if (sends) return allSent(request);
    return create(SendBatchResponseSchema, { outage: 'connection refused' });
  };
  const key = await givenFrozen();
  const minutesToRetry = async () => {
    await pauseBySystem(given.context)(key, 'connection refused', 'outage');
    const { step } = await look(key);
    const untilMs = 'untilMs' in step ? Number(step.untilMs) : 0;
    const minutes = (untilMs - given.clock.now.getTime()) / 60_000;
    await given.client.resumeBroadcast(key);
    return minutes;
  };
  sends = false;
  await send(key);
  expect([await minutesToRetry(), await minutesToRetry()]).toEqual([1, 2]);
  await send(key);
  expect(await minutesToRetry()).toBe(5);
  sends = true;
  await send(key);
  expect(await minutesToRetry()).toBe(1);
});

const gone = { workspaceId: 'acme', id: 'deleted' };
test.each([
  ['begin', () => begin(given.context)(gone)],
  ['freezeAudience', () => freezeAudience(given.context)(gone)],
  ['sendSlice', () => send(gone)],
  ['settle', () => settle(given.context)(gone)],
  ['completeTest', () => completeTest(given.context)(gone)],
  ['pickWinner', () => pickWinner(given.context)(gone)],
  ['finish', () => finish(given.context)(gone)],
  ['pauseBySystem', () => pauseBySystem(given.context)(gone, 'broken', 'fault')],
  ['pauseForUnrendered', () => pauseForUnrendered(given.context)(gone)],
  ['resumeAfterOutage', () => resumeAfterOutage(given.context)(gone)],
  ['failBroadcast', () => failBroadcast(given.context)(gone, 'broken')],
])('%s has nothing to do where the broadcast was deleted meanwhile', async (_, step) => {
  await step();
  expect((await look(gone)).step).toEqual({ do: 'end' });
});
