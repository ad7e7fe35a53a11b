import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { query } from '#lib/postgres/query.ts';
import { eventFaults } from '../../../test/setup/event-faults.ts';
import { eventTypes } from '../input/event-types.ts';
import { deliveriesOf, endpointOf, until } from '../test/deliveries.ts';
import { givenSubscription, givenWorkspace, useService } from '../test/given.ts';
import { givenEndpoint } from '../test/given-endpoint.ts';

// The library compares times with its own clock.
const given = useService({ now: () => new Date() });

async function givenTested(answer?: Parameters<typeof givenEndpoint>[0]) {
  const workspaceId = givenWorkspace();
  const endpoint = await givenEndpoint(answer);
  const subscription = await givenSubscription(given, workspaceId, { url: endpoint.url });
  const key = { workspaceId, id: subscription.id };
  return { endpoint, subscription, key };
}

test('sends one signed callback that is neither recorded nor counted, disabled or not', async () => {
  const { endpoint, subscription, key } = await givenTested();
  await given.client.toggleWebhookSubscription({ ...key, enabled: false });
  const answer = await given.client.testWebhookSubscription(key);
  expect(answer).toMatchObject({ success: true, statusCode: 200, responseBody: 'thanks' });
  expect(answer.error).toBeUndefined();
  const [{ headers, body } = { headers: {}, body: '' }] = endpoint.received;
  const verified = new Webhook(subscription.secret).verify(body, headers as Record<string, string>);
  expect(verified).toMatchObject({
    type: 'test',
    workspace_id: key.workspaceId,
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    data: { event_type: 'test' },
  });
  expect(await deliveriesOf(given, key.workspaceId)).toEqual([]);
  expect(await endpointOf(given, key.id)).toMatchObject({
    failures_in_row: 0,
    last_delivery_at: null,
  });
});

test('returns a failure in its answer', async () => {
  const { key } = await givenTested(() => 500);
  const refused = await given.client.testWebhookSubscription(key);
  expect(refused).toMatchObject({ success: false, statusCode: 500, responseBody: 'thanks' });
  const { id } = await givenSubscription(given, key.workspaceId, { url: 'http://127.0.0.1:1/' });
  expect(await given.client.testWebhookSubscription({ ...key, id })).toMatchObject({
    success: false,
    statusCode: 0,
    responseBody: '',
    error: 'request failed: connection refused',
  });
});

test('the data have the shape of the real events of each type', async () => {
  const { endpoint, key } = await givenTested();
  for (const eventType of eventTypes) {
    await given.client.testWebhookSubscription({ ...key, eventType });
  }
  const shapes = {
    contact: { contact: { email: expect.any(String), custom_json_5: null } },
    list: { email: expect.any(String), list_id: expect.any(String), list_name: expect.any(String) },
    segment: { segment_id: expect.any(String), segment_name: expect.any(String) },
    email: { message_id: expect.any(String), event_timestamp: expect.any(String) },
    custom_event: { custom_event: { event_name: expect.any(String), properties: {} } },
  };
  for (const { body } of endpoint.received) {
    const { type, data } = JSON.parse(body);
    const [kind = ''] = type.split('.');
    expect(data).toMatchObject(Reflect.get(shapes, kind));
    expect(eventFaults(type, JSON.stringify(data))).toEqual([]);
  }
  expect(endpoint.received).toHaveLength(eventTypes.length);
});

test('at most ten tests of a workspace are open', async () => {
  const held = Promise.withResolvers<number>();
  const { endpoint, key } = await givenTested(() => held.promise);
  const open = Array.from({ length: 10 }, () => given.client.testWebhookSubscription(key));
  await until(() => endpoint.received.length === 10);
  await expect(given.client.testWebhookSubscription(key)).rejects.toMatchObject({
    code: Code.ResourceExhausted,
  });
  held.resolve(200);
  await Promise.all(open);
  expect(await given.client.testWebhookSubscription(key)).toMatchObject({ success: true });
});

test('an unknown subscription is not found', async () => {
  const key = { workspaceId: givenWorkspace(), id: 'nope' };
  await expect(given.client.testWebhookSubscription(key)).rejects.toMatchObject({
    code: Code.NotFound,
  });
});

test('every answer says that the secret cannot be read', async () => {
  const { key } = await givenTested();
  await query(
    given.context.store.fork(),
    `update subscriptions set sealed_secret = 'unreadable' where workspace_id = $1`,
    [key.workspaceId],
  );
  for (let time = 0; time < 11; time += 1) {
    expect(await given.client.testWebhookSubscription(key)).toMatchObject({
      success: false,
      error: 'request failed: the secret cannot be read',
    });
  }
});

test('an unknown type is refused', async () => {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId);
  await expect(
    given.client.testWebhookSubscription({ workspaceId, id, eventType: 'contact.gone' }),
  ).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'invalid event type: contact.gone',
  });
});
