import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { readMetric } from '#lib/test/read-metric.ts';
import { givenDeliveries, givenSubscription, givenWorkspace, useService } from '../test/given.ts';
import { measureDeliveries } from './metrics.ts';

const given = useService();

test('deliveries that are due, endpoints that get only probes, and results that are not stored are seen', async () => {
  const workspaceId = givenWorkspace();
  const { id: subscriptionId } = await givenSubscription(given, workspaceId);
  const em = given.context.store.fork();
  const first = { subscriptionId };
  const retry = { subscriptionId, attempts: 2 };
  const deliveries = [
    first,
    first,
    first,
    retry,
    retry,
    { subscriptionId, status: 'failed' },
  ] as const;
  const ids = await givenDeliveries(given, workspaceId, deliveries);
  const later = 'update deliveries set next_attempt_at = $2 where id = $1';
  await query(em, later, [ids[3], new Date(Date.now() - 1_000)]);
  await query(em, later, [ids[4], new Date(Date.now() + 3_600_000)]);
  await query(em, 'update subscriptions set probe_at = now() where id = $1', [subscriptionId]);
  measureDeliveries(given.context);
  expect(await readMetric('postrider_webhook_deliveries_due', '{kind="first"}')).toBe(3);
  expect(await readMetric('postrider_webhook_deliveries_due', '{kind="retry"}')).toBe(1);
  expect(await readMetric('postrider_webhook_circuits_open')).toBe(1);
  expect(await readMetric('postrider_webhook_results_unstored')).toBe(0);
});
