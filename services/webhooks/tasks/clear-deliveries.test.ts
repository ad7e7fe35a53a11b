import { ConnectError } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { countEvents, deliveriesOf, sendEvents } from '../test/deliveries.ts';
import { givenDeliveries, givenSubscription, givenWorkspace, useService } from '../test/given.ts';
import { clearDeliveries } from './clear-deliveries.ts';
import { forgetDeliveries } from './forget-deliveries.ts';

const given = useService();
const dayMs = 24 * 60 * 60 * 1_000;

async function givenOld(): Promise<string> {
  const workspaceId = givenWorkspace();
  const { id: subscriptionId } = await givenSubscription(given, workspaceId);
  const createdAt = new Date(given.clock.now.getTime() - 31 * dayMs);
  await givenDeliveries(given, workspaceId, [{ subscriptionId, createdAt }, { subscriptionId }]);
  return workspaceId;
}

test('a workspace whose settings cannot be read keeps its deliveries, and the others are cleared', async () => {
  const [poisoned, ...others] = [await givenOld(), await givenOld(), await givenOld()];
  const workspaces = {
    getSettings: async ({ workspaceId = '' }) => {
      if (workspaceId === poisoned) throw new ConnectError('no settings');
      return { $typeName: 'postrider.workspaces.v1.GetSettingsResponse' as const, name: '' };
    },
  };
  await clearDeliveries({ ...given.context, workspaces }, given.context.log).task();
  expect(await deliveriesOf(given, poisoned)).toHaveLength(2);
  for (const workspaceId of others) expect(await deliveriesOf(given, workspaceId)).toHaveLength(1);
});

const withSettings = {
  getSettings: async () => ({
    $typeName: 'postrider.workspaces.v1.GetSettingsResponse' as const,
    name: '',
  }),
};

test('an event goes with the last of its deliveries, by age or with their subscriptions', async () => {
  const workspaceId = givenWorkspace();
  const [first, second] = [
    await givenSubscription(given, workspaceId),
    await givenSubscription(given, workspaceId),
  ];
  await sendEvents(given, workspaceId, [{ contact: { email: 'a@example.com' } }]);
  await forgetDeliveries(given.context)({ workspaceId, id: first.id });
  expect(await countEvents(given, workspaceId)).toBe(1);
  await forgetDeliveries(given.context)({ workspaceId, id: second.id });
  expect(await countEvents(given, workspaceId)).toBe(0);

  await sendEvents(given, workspaceId, [{ contact: { email: 'a@example.com' } }]);
  const context = { ...given.context, workspaces: withSettings };
  await clearDeliveries(context, given.context.log).task();
  expect(await countEvents(given, workspaceId)).toBe(1);
  const later = () => new Date(given.clock.now.getTime() + 31 * dayMs);
  await clearDeliveries({ ...context, now: later }, given.context.log).task();
  expect(await countEvents(given, workspaceId)).toBe(0);
});

test('events without deliveries go when they are old, also of a workspace that has nothing else', async () => {
  const workspaceId = givenWorkspace();
  await givenSubscription(given, workspaceId);
  await sendEvents(given, workspaceId, [{ contact: { email: 'a@example.com' } }]);
  const em = given.context.store.fork();
  await query(em, 'delete from deliveries where workspace_id = $1', [workspaceId]);
  await clearDeliveries({ ...given.context, workspaces: withSettings }, given.context.log).task();
  expect(await countEvents(given, workspaceId)).toBe(0);
});
