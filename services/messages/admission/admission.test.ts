import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import type { Sender, Transport } from '../providers/provider.ts';
import {
  Admission,
  type AdmissionLimits,
  type AdmissionTurn,
  admissionLimits,
} from './admission.ts';

const host = {
  resolve: () => Promise.reject(new Error('no server is called')),
  mayStart: () => true,
};
type Numbers = Omit<AdmissionLimits, 'waitMaxMs'> & { waitMaxMs: number };

const { signal } = new AbortController();

function givenAdmission({ waitMaxMs = 50, ...over }: Partial<Numbers> = {}) {
  const waits = { bulk: waitMaxMs, urgent: waitMaxMs };
  const admission = new Admission(host, { ...admissionLimits, ...over, waitMaxMs: waits });
  const laneOf = (workspaceId: string, integrationId = 'smtp') =>
    admission.lane({ workspaceId, integrationId });
  const enter = (workspaceId: string, size: number, isUrgent = false): Promise<AdmissionTurn> =>
    admission.enter({ lane: laneOf(workspaceId), size, isUrgent, signal });
  return { admission, laneOf, enter };
}

/** The order in which calls are admitted where one claims at a time and each leaves at once. */
async function orderOf(
  calls: readonly { name: string; turn: Promise<AdmissionTurn> }[],
): Promise<string[]> {
  const order: string[] = [];
  const all = calls.map(({ name, turn }) =>
    turn.then(({ leave }) => {
      order.push(name);
      leave();
    }),
  );
  await Promise.all(all);
  return order;
}

test('workspaces take turns, however many calls one of them has waiting', async () => {
  const { enter } = givenAdmission({ claimingMax: 1, waitMaxMs: 5_000 });
  const first = await enter('busy', 200);
  const calls = [
    ...[1, 2, 3].map((number) => ({ name: `busy ${number}`, turn: enter('busy', 200) })),
    { name: 'other', turn: enter('other', 200) },
  ];
  first.leave();
  const order = await orderOf(calls);
  expect(order.indexOf('other')).toBeLessThan(2);
});

test('turns are measured in messages: small calls of one workspace weigh no more than a large one of another', async () => {
  const { enter } = givenAdmission({ claimingMax: 1, waitMaxMs: 5_000 });
  const first = await enter('large', 1);
  const small = Array.from({ length: 8 }, () => ({ name: 's', turn: enter('small', 50) }));
  const large = Array.from({ length: 2 }, () => ({ name: 'L', turn: enter('large', 200) }));
  first.leave();
  const order = (await orderOf([...small, ...large])).join('');
  const smallBefore = [...order.matchAll(/L/g)].map(({ index }, place) => index - place);
  expect(smallBefore[0]).toBeLessThanOrEqual(4);
  expect((smallBefore[1] ?? 0) - (smallBefore[0] ?? 0)).toBe(4);
});

test('single mail comes before the bulk of its own workspace', async () => {
  const { enter } = givenAdmission({ claimingMax: 1, waitMaxMs: 5_000 });
  const first = await enter('w', 200);
  const calls = [
    { name: 'bulk', turn: enter('w', 200) },
    { name: 'single', turn: enter('w', 1, true) },
  ];
  first.leave();
  expect(await orderOf(calls)).toEqual(['single', 'bulk']);
});

test('a call whose integration has no room waits without holding up others, and then gets the time to ask again', async () => {
  const { enter, laneOf } = givenAdmission({ claimingMax: 1 });
  const slow = laneOf('slow');
  slow.take(slow.window);
  const waiting = enter('slow', 10);
  const other = await enter('other', 10);
  expect(other.size).toBe(10);
  other.leave();
  expect(await waiting).toMatchObject({ size: 0, retryAfterMs: 250 });
  expect(slow.taken).toBe(slow.window);
});

test('a call goes on as soon as messages of its integration are recorded', async () => {
  const { enter, laneOf } = givenAdmission({ waitMaxMs: 5_000 });
  const lane = laneOf('w');
  lane.take(lane.window);
  const waiting = enter('w', 10);
  lane.release(25);
  expect(await waiting).toMatchObject({ size: 10 });
});

test('an integration without permits is asked again when it has some, or says when', async () => {
  const { enter, laneOf } = givenAdmission({ waitMaxMs: 1_000 });
  laneOf('soon').close(30, false);
  expect(await enter('soon', 1)).toMatchObject({ size: 1 });
  laneOf('late').close(20_000, false);
  const { size, retryAfterMs } = await enter('late', 1);
  expect(size).toBe(0);
  expect(retryAfterMs).toBeGreaterThan(15_000);
  expect(await enter('late', 1, true)).toMatchObject({ size: 1 });
});

test('integrations share what a process may hold, and none takes all of it', async () => {
  const { enter, laneOf } = givenAdmission({ heldMax: 300, claimingMax: 100 });
  const taken = (workspaceId: string) => laneOf(workspaceId).taken;
  const fill = async (workspaceId: string) => {
    for (;;) {
      const { size } = await enter(workspaceId, 10);
      if (size === 0) return;
    }
  };
  await fill('first');
  await fill('second');
  await fill('third');
  expect(taken('first')).toBe(150);
  expect(taken('second')).toBeGreaterThanOrEqual(70);
  expect(taken('third')).toBeGreaterThanOrEqual(30);
});

test('a call of a workspace beyond those that may wait is asked to come again', async () => {
  const { enter, laneOf } = givenAdmission({ waitingPerWorkspaceMax: 2, waitMaxMs: 5_000 });
  laneOf('w').take(200);
  const waiting = [enter('w', 1), enter('w', 1)];
  expect(await enter('w', 1)).toMatchObject({ size: 0 });
  expect(await enter('other', 1)).toMatchObject({ size: 1 });
  laneOf('w').release(200);
  expect(await Promise.all(waiting)).toMatchObject([{ size: 1 }, { size: 1 }]);
});

test('a call that is aborted waits no longer', async () => {
  const { admission, laneOf } = givenAdmission({ waitMaxMs: 60_000 });
  const lane = laneOf('w');
  lane.take(lane.window);
  const leaving = new AbortController();
  const waiting = admission.enter({ lane, size: 1, isUrgent: false, signal: leaving.signal });
  leaving.abort();
  expect(await waiting).toMatchObject({ size: 0 });
  expect(lane.waiting).toBe(0);
});

test('bulk mail that fills the window keeps no urgent mail waiting', async () => {
  const { enter, laneOf } = givenAdmission();
  const lane = laneOf('w');
  // The window was larger before the server became slow.
  lane.take(lane.window * 3);
  expect(await enter('w', lane.window, true)).toMatchObject({ size: lane.window });
  expect(await enter('w', 1, true)).toMatchObject({ size: 0 });
});

test('bulk mail waits while urgent mail takes long, and goes on when it has been quick for a while', async () => {
  const { admission, enter } = givenAdmission({ waitMaxMs: 60_000 });
  admission.urgentTook('w', 500);
  const bulk = enter('w', 10);
  expect(await enter('w', 10, true)).toMatchObject({ size: 10 });
  expect(await Promise.race([bulk, 'waits'])).toBe('waits');
  admission.urgentTook('w', 5);
  await sleep(205);
  admission.urgentTook('w', 5);
  expect(await bulk).toMatchObject({ size: 10 });
});

test('bulk mail goes on when there is no more urgent mail', async () => {
  const { admission, enter } = givenAdmission({ waitMaxMs: 60_000 });
  admission.urgentTook('w', 500);
  expect(await enter('w', 10)).toMatchObject({ size: 10 });
});

test('bulk mail waits for an urgent call in progress', async () => {
  const { admission, enter } = givenAdmission({ waitMaxMs: 60_000 });
  const ended = admission.urgentBegan();
  const bulk = enter('w', 10);
  expect(await enter('w', 10, true)).toMatchObject({ size: 10 });
  expect(await Promise.race([bulk, 'waits'])).toBe('waits');
  ended();
  expect(await bulk).toMatchObject({ size: 10 });
});

test('bulk mail goes on though an urgent call does not end', async () => {
  const { admission, enter } = givenAdmission({ waitMaxMs: 60_000 });
  admission.urgentBegan();
  expect(await enter('w', 10)).toMatchObject({ size: 10 });
});

test('bulk mail goes on though the clock was set back', async () => {
  const { admission, enter } = givenAdmission({ waitMaxMs: 5_000 });
  admission.urgentTook('w', 500);
  const before = Date.now();
  const clock = jest.spyOn(Date, 'now').mockReturnValue(before - 3_600_000);
  expect(await enter('w', 10)).toMatchObject({ size: 10 });
  clock.mockRestore();
});

test('lanes go on in the order in which their bulk mail was held, each in a turn', async () => {
  const { admission, laneOf } = givenAdmission();
  const resumed: string[] = [];
  const ended = admission.urgentBegan();
  for (const name of ['one', 'two']) {
    let mayStartBulk: (() => boolean) | undefined;
    const sender = {
      resume() {
        resumed.push(name);
        // A lane that has more to send than fits into a turn.
        const beganAtMs = performance.now();
        while (mayStartBulk?.() && performance.now() - beganAtMs < 1_000);
      },
    } as unknown as Sender;
    const open: Transport['open'] = (given) => {
      mayStartBulk = given.mayStartBulk;
      return sender;
    };
    laneOf(name).open({ key: 'smtp', open } as Transport, 60);
    expect(mayStartBulk?.()).toBe(false);
  }
  ended();
  while (resumed.length < 4) await setImmediate();
  expect(resumed.slice(0, 4)).toEqual(['one', 'two', 'one', 'two']);
});

test('a call that finds room is admitted though the turn ends at that moment', async () => {
  const { admission, enter } = givenAdmission({ waitMaxMs: 5_000 });
  let nowMs = performance.now();
  // Each look at the clock is longer than a turn.
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => {
    nowMs += 3;
    return nowMs;
  });
  admission.urgentBegan()();
  for (let each = 0; each < 2 * admissionLimits.claimingMax; each += 1) {
    const turn = await enter('w', 10);
    expect(turn).toMatchObject({ size: 10 });
    turn.leave();
  }
  clock.mockRestore();
});
