import { setTimeout as sleep } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { allSent, type Given, givenBroadcast, givenService } from '../test/given.ts';
import { runActivity } from '../test/play.ts';
import { freezeAudience } from './freeze-audience.ts';
import { readPlan } from './read-plan.ts';
import { sendSlice } from './send-slice.ts';

let given: Given;
beforeAll(async () => {
  given = await givenService();
});
beforeEach(() => {
  given.neighbours.audience = Array.from(
    { length: 1_000 },
    (_, index) => `p${String(index).padStart(5, '0')}@example.com`,
  );
  given.neighbours.sendBatch = allSent;
});
afterAll(() => given.context.store.close());

type Key = { workspaceId: string; id: string };
const send = (key: Key) => runActivity(() => sendSlice(given.context)({ ...key, slice: 0 }));
const look = (key: Key) => readPlan(given.context)(key);

async function givenFrozen(): Promise<Key> {
  const key = await givenBroadcast(given, { status: 'sending' });
  await runActivity(() => freezeAudience(given.context)(key));
  return key;
}

test('a call that is refused ends its slice once the others have ended, and leaves no rejection to itself', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  const ended: number[] = [];
  let calls = 0;
  given.neighbours.sendBatch = async (request) => {
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
