import { expect, test } from '@jest/globals';
import { sendEvents, setEndpoint } from '../test/deliveries.ts';
import { givenDeliveries, givenSubscription, givenWorkspace, useService } from '../test/given.ts';
import { countUsage } from './count.ts';

const given = useService();

test('counts what a workspace has: payloads once, and nothing of others', async () => {
  const workspaceId = givenWorkspace();
  const usage = () => countUsage(given.context.store.fork(), workspaceId);
  expect(await usage()).toEqual({
    ...{ subscriptions: 0, pendingDeliveries: 0, pendingBytes: 0, events: 0 },
  });
  const later = new Date(given.clock.now.getTime() + 60_000);
  for (let count = 0; count < 3; count += 1) {
    const { id } = await givenSubscription(given, workspaceId);
    await setEndpoint(given, id, { failures_in_row: 5, probe_at: later });
    if (count > 0) continue;
    const done = { subscriptionId: id, status: 'delivered' as const };
    await givenDeliveries(given, workspaceId, [{ subscriptionId: id }, done]);
  }
  const sent = [{ contact: { first_name: 'Ann' } }, { contact: { first_name: 'Bo' } }];
  await sendEvents(given, workspaceId, sent);
  const other = givenWorkspace();
  await givenSubscription(given, other);
  await sendEvents(given, other, sent);
  const bytes = [...sent, { email: 'a@example.com' }].map((each) => JSON.stringify(each).length);
  expect(await usage()).toEqual({
    subscriptions: 3,
    pendingDeliveries: 7,
    pendingBytes: bytes.reduce((total, each) => total + each, 0),
    events: 2,
  });
});
