import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { eventTypes } from '../input/event-types.ts';
import { deliveriesOf } from '../test/deliveries.ts';
import { givenSubscription, givenWorkspace, useService } from '../test/given.ts';
import { givenListener, listenersBy } from '../test/listeners.ts';

const given = useService();

test.each(eventTypes)('a made-up %s waits for the listeners that want it', async (eventType) => {
  const workspaceId = givenWorkspace();
  await givenSubscription(given, workspaceId, { eventTypes: [...eventTypes] });
  const other = await givenListener(given, givenWorkspace(), [...eventTypes]);
  const one = await givenListener(given, workspaceId, [eventType]);
  const types = eventTypes.filter((type) => type !== eventType);
  const bystander = await givenListener(given, workspaceId, types);
  const { listeners } = await given.listeners.triggerWebhookEvent({ workspaceId, eventType });
  expect(listeners).toBe(1);
  expect((await one.take()).events).toMatchObject([{ type: eventType }]);
  for (const { take } of [other, bystander]) expect((await take()).events).toEqual([]);
  expect(await deliveriesOf(given, workspaceId)).toHaveLength(1);
});

test('without a listener that wants it, nothing is made', async () => {
  const workspaceId = givenWorkspace();
  const request = { workspaceId, eventType: 'email.bounced' };
  expect(await given.listeners.triggerWebhookEvent(request)).toMatchObject({ listeners: 0 });
  expect(await deliveriesOf(given, workspaceId)).toEqual([]);
});

test('a type that is unknown, or that the caller may not read, is refused', async () => {
  const workspaceId = givenWorkspace();
  await expect(
    given.listeners.triggerWebhookEvent({ workspaceId, eventType: 'email.lost' }),
  ).rejects.toThrow('invalid event type: email.lost');
  const member = listenersBy(given, { webhooks: { read: true, write: true } });
  await expect(
    member.triggerWebhookEvent({ workspaceId, eventType: 'email.sent' }),
  ).rejects.toMatchObject({ code: Code.PermissionDenied });
});
