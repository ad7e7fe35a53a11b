import { Code } from '@connectrpc/connect';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { countListeners } from '../listening/listener.ts';
import { trimWaiting } from '../listening/trim-waiting.ts';
import { countEvents, deliveriesOf } from '../test/deliveries.ts';
import { givenDeliveries, givenWorkspace, jobsOf, useService } from '../test/given.ts';
import { givenListener, sendTypes } from '../test/listeners.ts';
import { forgetDeliveries } from './forget-deliveries.ts';
import { tendListeners } from './tend-listeners.ts';

const given = useService();
const minuteMs = 60_000;
let begun: Date;

const tend = (most?: { waiting: number }) => tendListeners(given.context, most)();

function pass(minutes: number): void {
  given.clock.now = new Date(given.clock.now.getTime() + minutes * minuteMs);
}

beforeEach(() => {
  begun = given.clock.now;
});
afterEach(() => {
  given.clock.now = begun;
});

test('a listener that takes nothing for five minutes ends, and what waits for it is deleted', async () => {
  const workspaceId = givenWorkspace();
  const [idle, busy] = [
    await givenListener(given, workspaceId),
    await givenListener(given, workspaceId),
  ];
  await sendTypes(given, workspaceId, ['contact.created']);
  pass(4);
  await busy.take();
  pass(2);
  await tend();
  await expect(idle.take()).rejects.toMatchObject({ code: Code.NotFound });
  expect((await busy.take()).events).toHaveLength(1);
  const kept = await deliveriesOf(given, workspaceId);
  expect(kept.map(({ subscription_id }) => subscription_id)).toEqual([busy.id]);
  const pushes = (await jobsOf(given, 'pushInterests')) as { workspaceId?: string }[];
  expect(pushes.filter((push) => push.workspaceId === workspaceId)).toHaveLength(1);
});

test('deliveries that a listener has taken stay for an hour after its end', async () => {
  const workspaceId = givenWorkspace();
  const { id, take, end } = await givenListener(given, workspaceId);
  await sendTypes(given, workspaceId, ['contact.created']);
  const [event] = (await take()).events;
  await take([event?.id ?? '']);
  await end();
  pass(59);
  await tend();
  expect(await deliveriesOf(given, workspaceId)).toMatchObject([{ id: event?.id }]);
  pass(2);
  await tend();
  expect(await jobsOf(given, 'forgetDeliveries')).toContainEqual(
    expect.objectContaining({ workspaceId, id }),
  );
  await forgetDeliveries(given.context)({ workspaceId, id });
  expect(await deliveriesOf(given, workspaceId)).toEqual([]);
  expect(await countEvents(given, workspaceId)).toBe(0);
  await expect(end()).rejects.toMatchObject({ code: Code.NotFound });
});

test('the oldest events that wait beyond the limit go, and the listener learns how many', async () => {
  const workspaceId = givenWorkspace();
  const [slow, quick] = [
    await givenListener(given, workspaceId),
    await givenListener(given, givenWorkspace()),
  ];
  await sendTypes(given, workspaceId, ['contact.created', 'contact.created']);
  pass(1);
  await sendTypes(given, workspaceId, ['email.sent']);
  await tend({ waiting: 1 });
  expect(await slow.take()).toMatchObject({ dropped: 2, events: [{ type: 'email.sent' }] });
  expect(await quick.take()).toMatchObject({ dropped: 0 });
  expect(await countEvents(given, workspaceId)).toBe(1);
});

test('the oldest go first of a flood that one run does not end', async () => {
  const workspaceId = givenWorkspace();
  const { id, take } = await givenListener(given, workspaceId);
  const many = Array.from({ length: 5_010 }, (_, number) => ({
    subscriptionId: id,
    status: 'waiting' as const,
    eventType: `${number}`,
    createdAt: new Date(begun.getTime() - 10_000 + number),
  }));
  await givenDeliveries(given, workspaceId, many);
  await trimWaiting(given.context.store, { workspaceId, id, most: 3 }, { stepsMax: 1 });
  const { events, dropped } = await take();
  expect(events.map(({ type }) => type)).toEqual(
    Array.from({ length: 10 }, (_, number) => `${5_000 + number}`),
  );
  expect(dropped).toBe(5_000);
});

describe('thousands of listeners of a tenant that nobody uses', () => {
  const count = 2_500;

  /** Listeners that end at a time, or have ended at it; in minutes from now. */
  async function givenIdle({ expires, ended }: { expires: number; ended?: number }) {
    const workspaceId = givenWorkspace();
    const at = (minutes: number) => new Date(begun.getTime() + minutes * minuteMs).toISOString();
    await query(
      given.context.store.fork(),
      `insert into listeners (workspace_id, id, event_types, created_at, expires_at, ended_at)
       select $1, lpad(n::text, 32, '0'), '{email.sent}', $2, $3, $4 from generate_series(1, ${count}) n`,
      [workspaceId, at(0), at(expires), ended === undefined ? null : at(ended)],
    );
    return workspaceId;
  }

  /** How many of them are left, and how many of these take events. Deletes them. */
  async function left(workspaceId: string) {
    const em = given.context.store.fork();
    const counts = await countListeners(em, workspaceId);
    await query(em, 'delete from listeners where workspace_id = $1', [workspaceId]);
    return counts;
  }

  test('have no turn each', async () => {
    const workspaceId = await givenIdle({ expires: 5 });
    const busy = await givenListener(given, givenWorkspace());
    await sendTypes(given, busy.workspaceId, ['contact.created', 'contact.created']);
    const { store } = given.context;
    let units = 0;
    const fork = () => {
      units += 1;
      return store.fork();
    };
    await tendListeners({ ...given.context, store: { ...store, fork } }, { waiting: 1 })();
    const counts = await left(workspaceId);
    expect(units).toBeLessThan(20);
    expect(await busy.take()).toMatchObject({ dropped: 1 });
    expect(counts).toEqual({ live: count, all: count });
  });

  test('end in one run, as do those of other tenants', async () => {
    const workspaceId = await givenIdle({ expires: -1 });
    const { take } = await givenListener(given, givenWorkspace());
    pass(6);
    await tend();
    const counts = await left(workspaceId);
    expect(counts).toEqual({ live: 0, all: count });
    await expect(take()).rejects.toMatchObject({ code: Code.NotFound });
  });

  test('are forgotten in one run, without a job for each', async () => {
    const workspaceId = await givenIdle({ expires: -90, ended: -61 });
    await tend();
    const counts = await left(workspaceId);
    expect(counts).toEqual({ live: 0, all: 0 });
    const jobs = (await jobsOf(given, 'forgetDeliveries')) as { workspaceId: string }[];
    expect(jobs.filter((job) => job.workspaceId === workspaceId)).toEqual([]);
  });
});
