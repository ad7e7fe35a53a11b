import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createEgress } from '#lib/outside/egress.ts';
import { type DnsServer, startDnsServer } from '../../../test/dns-server.ts';
import { deliveriesOf, endpointOf, sendEvents, until } from '../test/deliveries.ts';
import { type Given, givenService, givenSubscription, givenWorkspace } from '../test/given.ts';
import { givenEndpoint } from '../test/given-endpoint.ts';

let dns: DnsServer;
let given: Given;

beforeAll(async () => {
  dns = await startDnsServer((name) => {
    if (name.endsWith('tarpit.example')) return 'silent';
    return name === 'broken.example' ? 'broken' : { a: ['127.0.0.1'] };
  });
  const egress = createEgress({ allow: ['127.0.0.0/8'], dnsServers: [dns.address] });
  given = await givenService({ egress });
});

afterAll(async () => {
  await given.context.dispatcher.stop();
  await Promise.all([given.context.egress.close(), given.context.store.close(), dns.close()]);
});

const contact = { contact: { email: 'a@example.com' } };

test("a workspace's webhook goes out at once while the names of another's endpoints are never answered", async () => {
  const attacker = givenWorkspace();
  // A workspace has a limit of calls at once, and each waits for a name.
  for (let from = 0; from < 40; from += 10) {
    const urls = Array.from({ length: 10 }, (_, at) => `http://hook${from + at}.tarpit.example/`);
    await Promise.all(urls.map((url) => givenSubscription(given, attacker, { url })));
  }
  const workspaceId = givenWorkspace();
  const endpoint = await givenEndpoint();
  const url = endpoint.url.replace('127.0.0.1', 'hooks.example');
  await givenSubscription(given, workspaceId, { url });
  await sendEvents(given, attacker, Array(5).fill(contact));
  const beganAtMs = performance.now();
  await sendEvents(given, workspaceId, [contact]);
  await until(() => endpoint.received.length === 1);
  expect(performance.now() - beganAtMs).toBeLessThan(1_000);
});

test('a name that our DNS gives no answer for is tried again, and opens no circuit', async () => {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId, { url: 'http://broken.example/' });
  await sendEvents(given, workspaceId, Array(8).fill(contact));
  const attempted = async () =>
    (await deliveriesOf(given, workspaceId)).filter(({ last_error }) => last_error !== null);
  await until(async () => (await attempted()).length > 0);
  for (let count = (await attempted()).length; count < 6; count = (await attempted()).length) {
    given.clock.now = new Date(given.clock.now.getTime() + 6_000);
    given.context.dispatcher.poke([{ workspaceId, id }]);
    const before = count;
    await until(async () => (await attempted()).length > before);
  }
  for (const delivery of await attempted()) {
    expect(delivery).toMatchObject({
      status: 'pending',
      attempts: 1,
      last_error: 'our DNS resolver has no answer for the name now',
    });
  }
  expect(await endpointOf(given, id)).toMatchObject({
    enabled: true,
    failures_in_row: 0,
    failing_since: null,
    probe_at: null,
  });
});
