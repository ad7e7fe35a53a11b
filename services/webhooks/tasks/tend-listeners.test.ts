import { Code } from '@connectrpc/connect';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
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
  await trimWaiting(given.context.store, { workspaceId, id }, { most: 3, stepsMax: 1 });
  const { events, dropped } = await take();
  expect(events.map(({ type }) => type)).toEqual(
    Array.from({ length: 10 }, (_, number) => `${5_000 + number}`),
  );
  expect(dropped).toBe(5_000);
});
