import { createClient } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { WebhookSubscriptionService } from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import { memberWith, testTransport, userClaims } from '../../../test/setup/service.ts';
import { eventTypes } from '../input/event-types.ts';
import { webhooksRoutes } from '../service.ts';
import {
  content,
  givenDeliveries,
  givenSubscription,
  givenWorkspace,
  useService,
} from '../test/given.ts';
import { givenEndpoint } from '../test/given-endpoint.ts';

const given = useService();
const full = { read: true, write: true };

/** A member who may change webhooks, and read some other things. */
function memberWho(rights: Record<string, { read?: boolean }>) {
  const authorize = memberWith({ webhooks: full, ...rights });
  const transport = testTransport(webhooksRoutes(given.context), { authorize });
  return createClient(WebhookSubscriptionService, transport(userClaims()));
}

const nothing = () => memberWho({});
const reader = { contacts: { read: true }, message_history: { read: true } };
const needed = (type: string) => (type.startsWith('email.') ? 'message_history' : 'contacts');

test.each(eventTypes)('to subscribe to %s needs the right to read what it holds', async (type) => {
  const resource = needed(type);
  const other = resource === 'contacts' ? 'message_history' : 'contacts';
  const workspaceId = givenWorkspace();
  const request = { workspaceId, ...content, eventTypes: [type] };
  const text = `Insufficient permissions: read access to ${resource} required`;
  for (const member of [nothing(), memberWho({ [other]: { read: true } })]) {
    await expect(member.createWebhookSubscription(request)).rejects.toThrow(text);
    const settings = { ...request, eventTypes: [], settings: { eventTypes: [type] } };
    await expect(member.createWebhookSubscription(settings)).rejects.toThrow(text);
  }
  const able = memberWho({ [resource]: { read: true } });
  const { subscription } = await able.createWebhookSubscription(request);
  expect(subscription?.eventTypes).toEqual([type]);
});

test('a change of a subscription needs the right to read all that it then gets, also what it got before', async () => {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId, { eventTypes: ['contact.created'] });
  const moved = { workspaceId, id, name: 'Mine', url: 'https://hooks.example.org/' };
  const refused = 'Insufficient permissions: read access to contacts required';
  for (const eventTypes of [['contact.created'], ['email.sent', 'contact.created']]) {
    const member = memberWho({ message_history: { read: true } });
    await expect(member.updateWebhookSubscription({ ...moved, eventTypes })).rejects.toThrow(
      refused,
    );
  }
  const { subscription } = await given.client.getWebhookSubscription({ workspaceId, id });
  expect(subscription?.url).toBe(content.url);
  await memberWho(reader).updateWebhookSubscription({ ...moved, eventTypes: ['contact.created'] });
});

test('deliveries show their payload only to those who may read what it holds', async () => {
  const workspaceId = givenWorkspace();
  const { id: subscriptionId } = await givenSubscription(given, workspaceId);
  await givenDeliveries(given, workspaceId, [
    { subscriptionId, eventType: 'contact.created', status: 'delivered' },
    { subscriptionId, eventType: 'email.sent', status: 'delivered' },
  ]);
  const shownTo = async (rights: Record<string, { read?: boolean }>) => {
    const { deliveries } = await memberWho(rights).listWebhookDeliveries({ workspaceId });
    expect(deliveries.map(({ status }) => status)).toEqual(['delivered', 'delivered']);
    return deliveries
      .filter(({ payload }) => Object.keys(payload ?? {}).length > 0)
      .map(({ eventType }) => eventType)
      .toSorted();
  };
  expect(await shownTo({})).toEqual([]);
  expect(await shownTo({ contacts: { read: true } })).toEqual(['contact.created']);
  expect(await shownTo({ message_history: { read: true } })).toEqual(['email.sent']);
  expect(await shownTo(reader)).toEqual(['contact.created', 'email.sent']);
});

test('a test of a type needs the right to read what such events hold; one of no type needs none', async () => {
  const workspaceId = givenWorkspace();
  const { url } = await givenEndpoint();
  const { id } = await givenSubscription(given, workspaceId, { url });
  await expect(
    nothing().testWebhookSubscription({ workspaceId, id, eventType: 'email.sent' }),
  ).rejects.toThrow('Insufficient permissions: read access to message_history required');
  expect(await nothing().testWebhookSubscription({ workspaceId, id })).toMatchObject({
    success: true,
  });
});
