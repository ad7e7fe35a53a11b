import { create } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { EventSchema } from '#gen/postrider/events/v1/events_pb.ts';
import { insertDeliveries, type NewClaim } from '../matching/deliveries.ts';
import type { SubscriptionKey } from '../subscription.ts';
import { deliveriesOf, sendEvents, until } from '../test/deliveries.ts';
import { givenSubscription, givenWorkspace, useService } from '../test/given.ts';
import { givenEndpoint } from '../test/given-endpoint.ts';
import { claimDue, claimSql } from './claim.ts';

const given = useService();
const contact = { contact: { email: 'a@example.com' } };

/** An endpoint that has answered well. */
async function givenGood() {
  const endpoint = await givenEndpoint();
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId, { url: endpoint.url });
  await sendEvents(given, workspaceId, [contact]);
  await until(() => endpoint.received.length === 1);
  await until(async () => (await deliveriesOf(given, workspaceId))[0]?.status === 'delivered');
  return { endpoint, key: { workspaceId, id } };
}

/** A batch of events that an endpoint wants. */
function batchFor({ workspaceId, id }: SubscriptionKey, count: number) {
  const event = create(EventSchema, {
    type: 'contact.created',
    dataJson: JSON.stringify(contact),
  });
  const batch = { workspaceId, batchId: crypto.randomUUID(), events: Array(count).fill(event) };
  const matches = batch.events.map((_, place) => ({ place, subscriptionId: id, isWaiting: false }));
  return { batch, matches };
}

/** Has the dispatcher begin new deliveries; `after` happens when they are inserted. */
function beginNew(
  { key, url, count }: { key: SubscriptionKey; url: string; count: number },
  after: (claimed: readonly NewClaim[]) => Promise<void> = async () => {},
): Promise<void> {
  const { dispatcher, store } = given.context;
  const wanted = { key, count, url, sealedSecret: '', isGated: false };
  return dispatcher.beginNew([wanted], performance.now(), async (claims) => {
    const options = { now: given.clock.now, claims };
    const claimed = await insertDeliveries(store, [batchFor(key, count)], options);
    await after(claimed);
    return claimed;
  });
}

test('an event for an endpoint that answers well is delivered without a claim', async () => {
  const { endpoint, key } = await givenGood();
  const { store } = given.context;
  const { read } = store;
  const texts: string[] = [];
  store.read = (text, values) => {
    texts.push(text);
    return read(text, values);
  };
  await sendEvents(given, key.workspaceId, [contact]);
  await until(() => endpoint.received.length === 2);
  store.read = read;
  expect(texts).not.toContain(claimSql);
  await until(async () =>
    (await deliveriesOf(given, key.workspaceId)).every(
      ({ status, attempts }) => status === 'delivered' && attempts === 1,
    ),
  );
});

test('a new delivery that its process does not live to send is a retry after 30 seconds', async () => {
  const { endpoint, key } = await givenGood();
  const lost = beginNew({ key, url: endpoint.url, count: 1 }, async (claimed) => {
    expect(claimed).toHaveLength(1);
    throw new Error('killed');
  });
  await expect(lost).rejects.toThrow('killed');
  const claim = (kind: 'first' | 'retry', ms: number) => {
    const at = new Date(given.clock.now.getTime() + ms);
    return claimDue(given.context.store, kind, [{ key, slots: 5 }], at);
  };
  const none = [{ deliveries: [] }];
  expect(await claim('first', 29_000)).toMatchObject(none);
  expect(await claim('retry', 29_000)).toMatchObject(none);
  expect(await claim('retry', 30_000)).toMatchObject([{ deliveries: [{ attempt: 2 }] }]);
  // Its place is free again.
  await sendEvents(given, key.workspaceId, Array(5).fill(contact));
  await until(() => endpoint.received.length === 6);
});

test('new deliveries that are inserted unclaimed, though there were places, are claimed without the scan', async () => {
  const { endpoint, key } = await givenGood();
  const { dispatcher, store } = given.context;
  const wanted = { key, count: 2, url: endpoint.url, sealedSecret: '', isGated: false };
  await dispatcher.beginNew([wanted], performance.now(), async (claims) => {
    expect([...claims.values()]).toEqual([2]);
    const options = { now: given.clock.now, claims: new Map() };
    return insertDeliveries(store, [batchFor(key, 2)], options);
  });
  await until(() => endpoint.received.length === 3);
});

test('new deliveries go to where their endpoint is when it is changed while they are inserted', async () => {
  const { endpoint, key } = await givenGood();
  const moved = await givenEndpoint();
  await beginNew({ key, url: endpoint.url, count: 2 }, async (claimed) => {
    expect(claimed.length).toBeGreaterThan(0);
    const { subscription } = await given.client.getWebhookSubscription(key);
    await given.client.updateWebhookSubscription({
      ...key,
      name: subscription?.name ?? '',
      url: moved.url,
      eventTypes: subscription?.eventTypes ?? [],
    });
  });
  await until(() => moved.received.length === 2);
  expect(endpoint.received).toHaveLength(1);
  await until(async () =>
    (await deliveriesOf(given, key.workspaceId)).every(({ attempts }) => attempts === 1),
  );
});

test('new deliveries do not pass older ones of their endpoint', async () => {
  const { egress } = given.context;
  const { dispatch } = egress;
  /** Callbacks that are open at once arrive in any order. */
  const begun: number[] = [];
  egress.dispatch = (name, options, handler) => {
    begun.push(JSON.parse(String(options.body)).data.number);
    return dispatch(name, options, handler);
  };
  const { endpoint, key } = await givenGood();
  const held = Promise.withResolvers<number>();
  endpoint.answer = () => held.promise;
  const numbers = Array.from({ length: 60 }, (_, number) => ({ number }));
  for (const each of numbers) {
    given.clock.now = new Date(given.clock.now.getTime() + 1);
    await sendEvents(given, key.workspaceId, [each]);
  }
  held.resolve(200);
  await until(() => endpoint.received.length === 61);
  egress.dispatch = dispatch;
  expect(begun.slice(1)).toEqual(numbers.map(({ number }) => number));
});
