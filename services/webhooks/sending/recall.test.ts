import { expect, test } from '@jest/globals';
import { signatureOf, signerOf } from '#lib/keys/webhook-signature.ts';
import type { SubscriptionKey } from '../subscription.ts';
import { sendEvents, until } from '../test/deliveries.ts';
import { givenSubscription, givenWorkspace, useService } from '../test/given.ts';
import { givenEndpoint, type Received } from '../test/given-endpoint.ts';

const given = useService();
const contact = { contact: { email: 'a@example.com' } };
const some = (count: number) => Array<object>(count).fill(contact);

/** A quick endpoint with as many callbacks open as may be, and others claimed ahead. */
async function givenBusy() {
  const held = Promise.withResolvers<number>();
  const endpoint = await givenEndpoint((_, count) => (count > 100 ? held.promise : 200));
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId, { url: endpoint.url });
  await sendEvents(given, workspaceId, some(100));
  await until(() => endpoint.received.length === 100);
  await sendEvents(given, workspaceId, some(100));
  await until(() => endpoint.received.length === 120);
  return { key: { workspaceId, id }, endpoint, release: () => held.resolve(200) };
}

test.each([
  ['deleted', (key: SubscriptionKey) => given.client.deleteWebhookSubscription(key)],
  [
    'disabled',
    (key: SubscriptionKey) => given.client.toggleWebhookSubscription({ ...key, enabled: false }),
  ],
])(
  'no callback begins after a subscription is %s, also none that was claimed',
  async (_, change) => {
    const { key, endpoint, release } = await givenBusy();
    await change(key);
    release();
    const other = await givenEndpoint();
    const workspaceId = givenWorkspace();
    await givenSubscription(given, workspaceId, { url: other.url });
    await sendEvents(given, workspaceId, some(50));
    await until(() => other.received.length === 50);
    expect(endpoint.received.length).toBe(120);
  },
);

test('a new secret signs every callback that begins after the answer, also those that were claimed', async () => {
  const { key, endpoint, release } = await givenBusy();
  const { subscription } = await given.client.regenerateWebhookSecret(key);
  release();
  await until(() => endpoint.received.length === 200);
  const expected = ({ headers, body }: Received) =>
    signatureOf(
      signerOf(subscription?.secret ?? ''),
      String(headers['webhook-id']),
      String(headers['webhook-timestamp']),
      body,
    );
  for (const each of endpoint.received.slice(120)) {
    expect(each.headers['webhook-signature']).toBe(expected(each));
  }
});
