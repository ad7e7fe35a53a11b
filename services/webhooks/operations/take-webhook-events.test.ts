import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { countEvents, deliveriesOf } from '../test/deliveries.ts';
import { givenSubscription, givenWorkspace, useService } from '../test/given.ts';
import { givenListener, listenersBy, sendTypes } from '../test/listeners.ts';

const given = useService();

test('events wait until they are named as taken, in their order', async () => {
  const workspaceId = givenWorkspace();
  const listener = await givenListener(given, workspaceId);
  await sendTypes(given, workspaceId, ['contact.created', 'contact.updated']);
  given.clock.now = new Date(given.clock.now.getTime() + 1);
  await sendTypes(given, workspaceId, ['email.sent']);
  const { events } = await listener.take();
  expect(events.map(({ type }) => type)).toEqual(['contact.created', 'email.sent']);
  expect(events[0]).toMatchObject({ data: { email: 'a@example.com' } });
  expect((await listener.take()).events).toEqual(events);
  const rest = await listener.take([events[0]?.id ?? '', 'no id', crypto.randomUUID()]);
  expect(rest.events).toEqual(events.slice(1));
  expect((await listener.take([events[1]?.id ?? ''])).events).toEqual([]);
  const kept = await deliveriesOf(given, workspaceId);
  expect(kept.map(({ status }) => status)).toEqual(['delivered', 'delivered']);
});

test('two listeners and a subscription have their own deliveries of an event', async () => {
  const workspaceId = givenWorkspace();
  const [one, other] = [
    await givenListener(given, workspaceId),
    await givenListener(given, workspaceId),
  ];
  const { id: subscriptionId } = await givenSubscription(given, workspaceId);
  await sendTypes(given, workspaceId, ['contact.created']);
  const [mine] = (await one.take()).events;
  const [theirs] = (await other.take([mine?.id ?? ''])).events;
  expect(theirs?.id).not.toBe(mine?.id);
  await one.take([mine?.id ?? '']);
  expect((await other.take()).events).toEqual([theirs]);
  const ofEndpoint = (await deliveriesOf(given, workspaceId)).filter(
    ({ subscription_id }) => subscription_id === subscriptionId,
  );
  expect(ofEndpoint).toMatchObject([{ status: 'pending' }]);
  expect(await countEvents(given, workspaceId)).toBe(1);
});

test('a listener of another workspace is not found', async () => {
  const { id } = await givenListener(given, givenWorkspace());
  await expect(
    given.listeners.takeWebhookEvents({ workspaceId: givenWorkspace(), id }),
  ).rejects.toMatchObject({ code: Code.NotFound });
});

test('an answer has at most a hundred events, and about a mebibyte', async () => {
  const workspaceId = givenWorkspace();
  const listener = await givenListener(given, workspaceId);
  await sendTypes(
    given,
    workspaceId,
    Array.from({ length: 120 }, () => 'contact.created'),
  );
  const { events } = await listener.take();
  expect(events).toHaveLength(100);
  expect((await listener.take(events.map(({ id }) => id))).events).toHaveLength(20);
  const large = await givenListener(given, workspaceId);
  const data = { email: 'a@example.com', text: 'x'.repeat(250_000) };
  await sendTypes(
    given,
    workspaceId,
    Array.from({ length: 6 }, () => 'email.sent'),
    data,
  );
  expect((await large.take()).events).toHaveLength(5);
});

test('a caller who may not read what an event holds takes nothing', async () => {
  const workspaceId = givenWorkspace();
  const { id, take } = await givenListener(given, workspaceId);
  await sendTypes(given, workspaceId, ['contact.created']);
  const [event] = (await take()).events;
  const member = listenersBy(given, {
    webhooks: { read: true, write: true },
    message_history: { read: true },
  });
  const request = { workspaceId, id, takenIds: [event?.id ?? ''] };
  await expect(member.takeWebhookEvents(request)).rejects.toMatchObject({
    code: Code.PermissionDenied,
  });
  expect((await take()).events).toEqual([event]);
});

test('a listener that takes stays, and one that has ended is not found', async () => {
  const { take, end, expiresAt } = await givenListener(given, givenWorkspace());
  given.clock.now = new Date(given.clock.now.getTime() + 60_000);
  const later = await take();
  expect(Number(later.expiresAt?.seconds) - Number(expiresAt?.seconds)).toBe(60);
  await end();
  await expect(take()).rejects.toMatchObject({ code: Code.NotFound });
});

test('an event has its time to the microsecond, as a callback has', async () => {
  const workspaceId = givenWorkspace();
  const { take } = await givenListener(given, workspaceId);
  const second = timestampFromDate(new Date('2030-01-01T12:00:00Z'));
  const times = [123_456_000, 123_457_000].map((nanos) => ({ ...second, nanos }));
  await given.events.consumeEvents({
    ...{ workspaceId, batchId: crypto.randomUUID() },
    events: times.map((occurredAt) => ({ type: 'contact.created', dataJson: '{}', occurredAt })),
  });
  const { events } = await take();
  expect(events.map(({ timestamp }) => timestamp?.nanos).toSorted()).toEqual([
    123_456_000, 123_457_000,
  ]);
});
