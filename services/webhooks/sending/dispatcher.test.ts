import { expect, test } from '@jest/globals';
import { deliveriesOf, endpointOf, sendEvents, setEndpoint, until } from '../test/deliveries.ts';
import {
  givenDeliveries,
  givenSubscription,
  givenWorkspace,
  jobsOf,
  useService,
} from '../test/given.ts';
import { givenEndpoint } from '../test/given-endpoint.ts';
import { Dispatcher } from './dispatcher.ts';

const given = useService();
const contact = { contact: { email: 'a@example.com' } };

async function givenListening(
  answer?: Parameters<typeof givenEndpoint>[0],
  workspaceId = givenWorkspace(),
) {
  const endpoint = await givenEndpoint(answer);
  const { id } = await givenSubscription(given, workspaceId, { url: endpoint.url });
  return { endpoint, workspaceId, id };
}

test('delivers an event at once, with its data as they were sent', async () => {
  const { endpoint, workspaceId, id } = await givenListening();
  await sendEvents(given, workspaceId, [contact]);
  await until(async () => (await deliveriesOf(given, workspaceId))[0]?.status === 'delivered');
  const [delivery] = await deliveriesOf(given, workspaceId);
  expect(delivery).toMatchObject({
    attempts: 1,
    last_response_status: 200,
    last_response_body: 'thanks',
    last_error: null,
    next_attempt_at: null,
    delivered_at: given.clock.now,
  });
  expect(JSON.parse(endpoint.received[0]?.body ?? '')).toEqual({
    id: delivery?.id,
    type: 'contact.created',
    workspace_id: workspaceId,
    timestamp: '2030-01-01T12:00:00.000000Z',
    data: contact,
  });
  expect((await endpointOf(given, id))?.last_delivery_at).toEqual(given.clock.now);
});

test('inserts a batch once, however often it arrives', async () => {
  const { endpoint, workspaceId } = await givenListening();
  const batchId = crypto.randomUUID();
  for (let count = 0; count < 3; count += 1) {
    await sendEvents(given, workspaceId, [contact, contact], { batchId });
  }
  await until(() => endpoint.received.length >= 2);
  expect(await deliveriesOf(given, workspaceId)).toHaveLength(2);
});

test('a failure is a retry by the schedule, and wakes the run of the subscription once', async () => {
  const { endpoint, workspaceId, id } = await givenListening(() => 500);
  await sendEvents(given, workspaceId, [contact]);
  await until(async () => (await deliveriesOf(given, workspaceId))[0]?.last_error === 'HTTP 500');
  const [delivery] = await deliveriesOf(given, workspaceId);
  const delayMs = delivery!.next_attempt_at!.getTime() - given.clock.now.getTime();
  expect(delayMs).toBeGreaterThanOrEqual(27_000);
  expect(delayMs).toBeLessThanOrEqual(33_000);
  expect(delivery).toMatchObject({ status: 'pending', attempts: 1 });
  const row = await endpointOf(given, id);
  expect(row).toMatchObject({
    failures_in_row: 1,
    failing_since: given.clock.now,
    next_wake_at: delivery?.next_attempt_at,
  });
  const woken = (await jobsOf(given, 'wake')) as { key: { id: string }; host: string }[];
  expect(woken.filter(({ key }) => key.id === id)).toEqual([
    { key: { workspaceId, id }, host: new URL(endpoint.url).host },
  ]);
});

test('the circuit opens after five failures in a row, and what is left waits for a probe', async () => {
  const { endpoint, workspaceId, id } = await givenListening(() => 500);
  await sendEvents(given, workspaceId, Array(30).fill(contact));
  await until(async () => (await endpointOf(given, id))?.probe_at != null);
  await until(async () => {
    const rows = await deliveriesOf(given, workspaceId);
    return rows
      .filter(({ attempts }) => attempts > 0)
      .every(({ last_error }) => last_error !== null);
  });
  // Two were open at the beginning.
  const attempted = endpoint.received.length;
  expect(attempted).toBeGreaterThanOrEqual(5);
  expect(attempted).toBeLessThanOrEqual(6);
  given.context.dispatcher.poke([{ workspaceId, id }]);
  given.context.dispatcher.poke([{ workspaceId, id }]);
  const other = await givenListening(undefined, workspaceId);
  await sendEvents(given, workspaceId, [contact]);
  await until(() => other.endpoint.received.length === 1);
  expect(endpoint.received).toHaveLength(attempted);
});

test('an answer of 410 disables the subscription, and has its deliveries and its interest end', async () => {
  const { workspaceId, id } = await givenListening(() => 410);
  await sendEvents(given, workspaceId, [contact]);
  await until(async () => (await endpointOf(given, id))?.enabled === false);
  expect(await endpointOf(given, id)).toMatchObject({
    disabled_reason: 'The endpoint answered 410 Gone',
  });
  expect(await jobsOf(given, 'failDeliveries')).toContainEqual({ workspaceId, id });
  expect(await jobsOf(given, 'pushInterests')).toContainEqual({ workspaceId });
});

test('an answer of 410 deletes a subscription of zapier', async () => {
  const workspaceId = givenWorkspace();
  const endpoint = await givenEndpoint(() => 410);
  const wish = { url: endpoint.url, source: 'zapier' };
  const { id } = await givenSubscription(given, workspaceId, wish);
  await sendEvents(given, workspaceId, [contact]);
  await until(async () => (await endpointOf(given, id)) === undefined);
  expect(await jobsOf(given, 'forgetDeliveries')).toContainEqual({ workspaceId, id });
});

test('five days of failures without a success disable the subscription', async () => {
  const { workspaceId, id } = await givenListening(() => 503);
  const failing_since = new Date(given.clock.now.getTime() - 5 * 24 * 3_600_000);
  await setEndpoint(given, id, { failing_since, failures_in_row: 4 });
  await sendEvents(given, workspaceId, [contact]);
  await until(async () => (await endpointOf(given, id))?.enabled === false);
  expect((await endpointOf(given, id))?.disabled_reason).toBe(
    'The endpoint has failed for five days',
  );
});

test('an endpoint that does not answer delays no other', async () => {
  const held = Promise.withResolvers<number>();
  const slow = await givenListening(() => held.promise);
  const good = await givenListening(undefined, slow.workspaceId);
  await sendEvents(given, slow.workspaceId, Array(50).fill(contact));
  await until(() => good.endpoint.received.length === 50);
  expect(slow.endpoint.received.length).toBeLessThanOrEqual(2);
  held.resolve(200);
  await until(() => slow.endpoint.received.length === 50);
});

test('dead endpoints of one tenant do not delay the good one of another', async () => {
  const held = Promise.withResolvers<number>();
  const dead = givenWorkspace();
  const { url } = await givenEndpoint(() => held.promise);
  for (let count = 0; count < 50; count += 1) await givenSubscription(given, dead, { url });
  const good = await givenListening();
  await sendEvents(given, dead, Array(20).fill(contact));
  await sendEvents(given, good.workspaceId, Array(100).fill(contact));
  await until(() => good.endpoint.received.length === 100);
  held.resolve(500);
});

test('at most 64 callbacks of a workspace are open at one origin', async () => {
  const held = Promise.withResolvers<number>();
  const workspaceId = givenWorkspace();
  let open = 0;
  let most = 0;
  const endpoint = await givenEndpoint(async () => {
    open += 1;
    most = Math.max(most, open);
    if (open >= 64) held.resolve(200);
    const status = await held.promise;
    open -= 1;
    return status;
  });
  for (let count = 0; count < 40; count += 1) {
    await givenSubscription(given, workspaceId, { url: endpoint.url });
  }
  await sendEvents(given, workspaceId, Array(4).fill(contact));
  await until(() => endpoint.received.length === 160);
  expect(most).toBeLessThanOrEqual(64);
});

test('finds deliveries without a poke', async () => {
  const { endpoint, workspaceId, id } = await givenListening();
  await givenDeliveries(given, workspaceId, [{ subscriptionId: id }, { subscriptionId: id }]);
  const own = new Dispatcher(given.context);
  own.start();
  await until(() => endpoint.received.length === 2);
  await own.stop();
});

test('a stop waits for open callbacks, and gives back what is claimed and not sent', async () => {
  const held = Promise.withResolvers<number>();
  const { endpoint, workspaceId, id } = await givenListening((_, count) =>
    count > 40 ? held.promise : 200,
  );
  await givenDeliveries(given, workspaceId, Array(120).fill({ subscriptionId: id }));
  const own = new Dispatcher(given.context);
  own.poke([{ workspaceId, id }]);
  await until(() => endpoint.received.length > 50);
  const stopped = own.stop();
  held.resolve(200);
  await stopped;
  const rows = await deliveriesOf(given, workspaceId);
  const delivered = rows.filter(({ status }) => status === 'delivered');
  expect(delivered).toHaveLength(endpoint.received.length);
  const left = rows.filter(({ status }) => status === 'pending');
  expect(left.length).toBeGreaterThan(0);
  expect(left.every(({ attempts }) => attempts === 0)).toBe(true);
});
