import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { signatureOf, signerOf } from '#lib/keys/webhook-signature.ts';
import { sendEvents, until } from '../test/deliveries.ts';
import { givenService, givenSubscription, givenWorkspace, useService } from '../test/given.ts';
import { givenEndpoint, type Received } from '../test/given-endpoint.ts';

const given = useService();
const some = (count: number) => Array<object>(count).fill({ contact: { email: 'a@example.com' } });

/** Another process of the service, which has 20 callbacks open and claimed as many ahead. */
async function givenBusyElsewhere() {
  const other = await givenService({ store: given.context.store });
  const held = Promise.withResolvers<number>();
  const endpoint = await givenEndpoint((_, count) => (count > 100 ? held.promise : 200));
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId, { url: endpoint.url });
  await sendEvents(other, workspaceId, some(100));
  await until(() => endpoint.received.length === 100);
  await sendEvents(other, workspaceId, some(100));
  await until(() => endpoint.received.length === 120);
  return { other, key: { workspaceId, id }, endpoint, release: () => held.resolve(200) };
}

type Key = { workspaceId: string; id: string };

test.each([
  ['disabled', (key: Key) => given.client.toggleWebhookSubscription({ ...key, enabled: false })],
  ['deleted', (key: Key) => given.client.deleteWebhookSubscription(key)],
])('no process begins a callback after the answer that the subscription is %s', async (_, end) => {
  const { other, key, endpoint, release } = await givenBusyElsewhere();
  await end(key);
  release();
  await sleep(500);
  await other.context.dispatcher.stop();
  expect(endpoint.received).toHaveLength(120);
});

test('all processes sign with the new secret what begins after it was answered', async () => {
  const { other, key, endpoint, release } = await givenBusyElsewhere();
  const { subscription } = await given.client.regenerateWebhookSecret(key);
  release();
  await until(() => endpoint.received.length === 200);
  await other.context.dispatcher.stop();
  const isNew = ({ headers, body }: Received) => {
    const id = String(headers['webhook-id']);
    const time = String(headers['webhook-timestamp']);
    const signature = signatureOf(signerOf(subscription?.secret ?? ''), id, time, body);
    return headers['webhook-signature'] === signature;
  };
  expect(endpoint.received.slice(120).filter(isNew)).toHaveLength(80);
});

test('all processes call the new address after it was answered', async () => {
  const { other, key, endpoint, release } = await givenBusyElsewhere();
  const moved = await givenEndpoint();
  const { subscription } = await given.client.getWebhookSubscription(key);
  const { name = '', eventTypes = [] } = subscription ?? {};
  const change = { ...key, name, eventTypes, url: moved.url };
  await given.client.updateWebhookSubscription(change);
  release();
  await until(() => moved.received.length === 80);
  await other.context.dispatcher.stop();
  expect(endpoint.received).toHaveLength(120);
});
