import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { deliveriesOf, setEndpoint } from '../test/deliveries.ts';
import { givenDeliveries, givenSubscription, givenWorkspace, useService } from '../test/given.ts';
import { failDeliveries } from './fail-deliveries.ts';
import { forgetDeliveries } from './forget-deliveries.ts';

const given = useService();

async function givenPending() {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId);
  const rows = [{ attempts: 0 }, { attempts: 3 }, { status: 'delivered' as const }];
  await givenDeliveries(
    given,
    workspaceId,
    rows.map((row) => ({ subscriptionId: id, ...row })),
  );
  return { workspaceId, id };
}

test('pending deliveries of a subscription that the system has disabled are failed, with its reason', async () => {
  const key = await givenPending();
  await setEndpoint(given, key.id, { enabled: false, disabled_reason: 'It is gone' });
  await failDeliveries(given.context)(key);
  const rows = await deliveriesOf(given, key.workspaceId);
  expect(rows.map(({ status, last_error }) => `${status} ${last_error}`).toSorted()).toEqual([
    'delivered null',
    'failed It is gone',
    'failed It is gone',
  ]);
});

test('pending deliveries stay where a person has disabled the subscription, or enabled it meanwhile', async () => {
  const key = await givenPending();
  await failDeliveries(given.context)(key);
  await setEndpoint(given, key.id, { enabled: false });
  await failDeliveries(given.context)(key);
  const rows = await deliveriesOf(given, key.workspaceId);
  expect(rows.filter(({ status }) => status === 'pending')).toHaveLength(2);
});

test('a run that takes too long gives way, and the rest comes behind other jobs', async () => {
  const key = await givenPending();
  const rows = Array.from({ length: 5_000 }, () => ({ subscriptionId: key.id }));
  await givenDeliveries(given, key.workspaceId, rows);
  await setEndpoint(given, key.id, { enabled: false, disabled_reason: 'It is gone' });
  const priorities = () =>
    query<{ priority: number }>(
      given.context.store.fork(),
      `select priority from webhooks_jobs._private_jobs where payload->>'id' = $1`,
      [key.id],
    );
  await failDeliveries(given.context, 0)(key);
  expect(await priorities()).toEqual([{ priority: 1 }]);
  await forgetDeliveries(given.context, 0)(key);
  expect(await priorities()).toEqual([{ priority: 1 }, { priority: 1 }]);
  await forgetDeliveries(given.context, 0)(key);
  expect(await deliveriesOf(given, key.workspaceId)).toEqual([]);
});
