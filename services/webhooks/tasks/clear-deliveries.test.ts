import { ConnectError } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { deliveriesOf } from '../test/deliveries.ts';
import { givenDeliveries, givenSubscription, givenWorkspace, useService } from '../test/given.ts';
import { clearDeliveries } from './clear-deliveries.ts';

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
  await clearDeliveries({ ...given.context, workspaces }, given.context)();
  expect(await deliveriesOf(given, poisoned)).toHaveLength(2);
  for (const workspaceId of others) expect(await deliveriesOf(given, workspaceId)).toHaveLength(1);
});
