import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { signatureOf, signerOf } from '#lib/keys/webhook-signature.ts';
import { query } from '#lib/postgres/query.ts';
import { deliveriesOf, endpointOf, sendEvents, setEndpoint, until } from '../test/deliveries.ts';
import { givenDeliveries, givenSubscription, givenWorkspace, useService } from '../test/given.ts';
import { givenEndpoint } from '../test/given-endpoint.ts';
import { Pool } from './pool.ts';
import { deliverRetries, finishRetries, readRetries } from './retries.ts';

const given = useService();
const later = (ms: number) => new Date(given.clock.now.getTime() + ms);

async function givenRetries(count: number, answer?: Parameters<typeof givenEndpoint>[0]) {
  const workspaceId = givenWorkspace();
  const endpoint = await givenEndpoint(answer);
  const { id } = await givenSubscription(given, workspaceId, { url: endpoint.url });
  const rows = Array(count).fill({ subscriptionId: id, attempts: 1, lastError: 'HTTP 500' });
  await givenDeliveries(given, workspaceId, rows);
  return { endpoint, key: { workspaceId, id } };
}

/** As an activity does it; gives the number of heartbeats. */
async function deliver(
  key: { workspaceId: string; id: string },
  signal = new AbortController().signal,
) {
  let heartbeats = 0;
  const heartbeat = () => {
    heartbeats += 1;
  };
  await deliverRetries(given.context, key, { until: later(60_000), signal, heartbeat });
  return heartbeats;
}

const statuses = async (workspaceId: string) =>
  Object.entries(
    Object.groupBy(await deliveriesOf(given, workspaceId), ({ status }) => status),
  ).map(([status, rows]) => `${status} ${rows?.length}`);

test('sends all that is due, under the same ids, and its results are stored when it ends', async () => {
  const { endpoint, key } = await givenRetries(100);
  expect(await deliver(key)).toBeGreaterThan(0);
  expect(await statuses(key.workspaceId)).toEqual(['delivered 100']);
  const ids = (await deliveriesOf(given, key.workspaceId)).map(({ id }) => id);
  expect(endpoint.received.map(({ headers }) => headers['webhook-id']).toSorted()).toEqual(
    ids.toSorted(),
  );
  expect(endpoint.received.every(({ attempt }) => attempt === 2)).toBe(true);
});

test('retries that are not due yet wait, and so do first attempts', async () => {
  const { endpoint, key } = await givenRetries(1);
  const rows = [
    { subscriptionId: key.id },
    { subscriptionId: key.id, attempts: 1, createdAt: later(1) },
  ];
  await givenDeliveries(given, key.workspaceId, rows);
  await deliver(key);
  expect(endpoint.received).toHaveLength(1);
});

test('a run looks when its retry is due, and not a part of a millisecond before', async () => {
  const { endpoint, key } = await givenRetries(1);
  await query(
    given.context.store.fork(),
    `update deliveries set last_attempt_at = created_at, next_attempt_at = next_attempt_at + interval '1 minute 1 microsecond'
     where workspace_id = $1`,
    [key.workspaceId],
  );
  const begun = given.clock.now;
  const state = await readRetries(given.context, key);
  given.clock.now = new Date(state?.nextDueAt ?? 0);
  await deliver(key);
  given.clock.now = begun;
  expect(endpoint.received).toHaveLength(1);
});

test('stops when the circuit opens; then it makes one probe at a time', async () => {
  const { endpoint, key } = await givenRetries(50, () => 500);
  await deliver(key);
  expect(endpoint.received.length).toBeGreaterThanOrEqual(5);
  expect(endpoint.received.length).toBeLessThanOrEqual(6);
  const before = endpoint.received.length;
  await deliver(key);
  expect(endpoint.received).toHaveLength(before);
  await setEndpoint(given, key.id, { probe_at: given.clock.now });
  await deliver(key);
  expect(endpoint.received).toHaveLength(before + 1);
});

test('an abort lets open callbacks end, and claims nothing more', async () => {
  const held = Promise.withResolvers<number>();
  const { endpoint, key } = await givenRetries(50, () => held.promise);
  const stop = new AbortController();
  const done = deliver(key, stop.signal);
  await until(() => endpoint.received.length === 2);
  stop.abort();
  held.resolve(200);
  await done;
  expect(endpoint.received).toHaveLength(2);
  expect((await statuses(key.workspaceId)).toSorted()).toEqual(['delivered 2', 'pending 48']);
});

test('a secret that is regenerated between attempts signs the next one, and the old one does not', async () => {
  const { endpoint, key } = await givenRetries(1, () => 500);
  const { subscription: before } = await given.client.getWebhookSubscription(key);
  await deliver(key);
  const { subscription: after } = await given.client.regenerateWebhookSecret(key);
  given.clock.now = later(90_000);
  await deliver(key);
  const isSignedBy = (secret = '') =>
    endpoint.received.map(({ headers, body }) => {
      const [id, time] = [`${headers['webhook-id']}`, `${headers['webhook-timestamp']}`];
      return headers['webhook-signature'] === signatureOf(signerOf(secret), id, time, body);
    });
  expect(isSignedBy(before?.secret)).toEqual([true, false]);
  expect(isSignedBy(after?.secret)).toEqual([false, true]);
});

test('reads the state of a subscription, and notes when its run looks next', async () => {
  const { endpoint, key } = await givenRetries(2);
  await givenDeliveries(given, key.workspaceId, [{ subscriptionId: key.id }]);
  expect(await readRetries(given.context, key)).toEqual({
    name: 'CRM',
    host: new URL(endpoint.url).host,
    enabled: true,
    disabledReason: null,
    pending: 3,
    retries: 2,
    nextDueAt: given.clock.now.getTime(),
    probeAt: null,
    lastError: 'HTTP 500',
  });
  expect((await endpointOf(given, key.id))?.next_wake_at).toEqual(given.clock.now);
  await setEndpoint(given, key.id, { probe_at: later(90_000) });
  const state = await readRetries(given.context, key);
  expect(state).toMatchObject({
    nextDueAt: later(90_000).getTime(),
    probeAt: later(90_000).getTime(),
  });
  expect(await readRetries(given.context, { ...key, id: 'gone' })).toBeUndefined();
});

test('the run ends only when no retry is left; first attempts that are open are none', async () => {
  const { key } = await givenRetries(1);
  await setEndpoint(given, key.id, { next_wake_at: later(1) });
  expect(await finishRetries(given.context, key)).toBe(false);
  expect((await endpointOf(given, key.id))?.next_wake_at).toEqual(later(1));
  await deliver(key);
  const held = Promise.withResolvers<number>();
  const open = await givenEndpoint(() => held.promise);
  await setEndpoint(given, key.id, { url: open.url } as never);
  await sendEvents(given, key.workspaceId, [{ contact: {} }]);
  await until(() => open.received.length === 1);
  expect(await finishRetries(given.context, key)).toBe(true);
  expect((await endpointOf(given, key.id))?.next_wake_at).toBeNull();
  held.resolve(200);
  expect(await finishRetries(given.context, { ...key, id: 'gone' })).toBe(true);
});

test('the run of a disabled subscription ends, whatever is left', async () => {
  const { key } = await givenRetries(1);
  await setEndpoint(given, key.id, { enabled: false, next_wake_at: later(1) });
  expect(await finishRetries(given.context, key)).toBe(true);
});

test('each attempt has the time of the event, to the microsecond', async () => {
  const { endpoint, key } = await givenRetries(0, (_, count) => (count === 1 ? 500 : 200));
  const occurredAt = { seconds: 1_893_000_000n, nanos: 123_456_000 };
  const event = { type: 'contact.created', dataJson: '{}', occurredAt };
  const batch = { workspaceId: key.workspaceId, batchId: crypto.randomUUID(), events: [event] };
  await given.events.consumeEvents(batch);
  await until(async () => (await endpointOf(given, key.id))?.failures_in_row === 1);
  await query(
    given.context.store.fork(),
    'update deliveries set next_attempt_at = $2 where workspace_id = $1',
    [key.workspaceId, given.clock.now],
  );
  await deliver(key);
  const times = endpoint.received.map(({ body }) => JSON.parse(body).timestamp);
  expect(times).toEqual(['2029-12-26T17:20:00.123456Z', '2029-12-26T17:20:00.123456Z']);
});

test('each attempt of a delivery from before there were times of events has its own time', async () => {
  const { endpoint, key } = await givenRetries(1, () => 500);
  await query(
    given.context.store.fork(),
    `update deliveries set occurred_at = null, created_at = '2029-12-26T17:20:00.123Z'
     where workspace_id = $1`,
    [key.workspaceId],
  );
  await deliver(key);
  given.clock.now = later(90_000);
  await deliver(key);
  const times = endpoint.received.map(({ body }) => JSON.parse(body).timestamp);
  expect(times).toEqual(['2029-12-26T17:20:00.123000Z', '2029-12-26T17:20:00.123000Z']);
});

test('the retries of all endpoints of a workspace share places in a process', async () => {
  let open = 0;
  let openMax = 0;
  const { endpoint, key } = await givenRetries(30, async () => {
    open += 1;
    openMax = Math.max(openMax, open);
    await sleep(5);
    open -= 1;
    return 200;
  });
  const { workspaceId } = key;
  const second = await givenSubscription(given, workspaceId, { url: endpoint.url });
  const rows = Array(30).fill({ subscriptionId: second.id, attempts: 1 });
  await givenDeliveries(given, workspaceId, rows);
  const context = { ...given.context, retryPlaces: new Pool({ all: 10, ofWorkspace: 3 }) };
  const { signal } = new AbortController();
  const options = { until: later(60_000), signal, heartbeat: () => {} };
  await Promise.all(
    [key.id, second.id].map((id) => deliverRetries(context, { workspaceId, id }, options)),
  );
  expect(await statuses(workspaceId)).toEqual(['delivered 60']);
  expect(openMax).toBe(3);
  expect(context.retryPlaces.roomOf(workspaceId)).toBe(3);
});
