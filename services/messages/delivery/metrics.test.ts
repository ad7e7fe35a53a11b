import { expect, test } from '@jest/globals';
import { registry } from '#lib/telemetry/metrics.ts';
import { readMetric } from '#lib/test/read-metric.ts';
import { until } from '../../../test/stack/until.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';
import { measureSending } from './metrics.ts';

const given = useService();
resetAfterEach(given);

const own = '{workspace_id="w1",integration_id="smtp-1"}';

test('each integration has what waits, what is open, its window, rate and breaker; all have what is not stored', async () => {
  measureSending(given.context, 1);
  given.world.perMinute = 60_000;
  Object.assign(given.sink.behaviour, { latencyMs: 2_000 });
  const sending = given.sender.sendBatch(batchOf(people(200)));
  const isSeen = async (name: string) => ((await readMetric(name, own)) ?? 0) > 0;
  for (const name of ['messages_held', 'provider_connections_open', 'provider_messages_waiting']) {
    await until(`${name} is seen`, () => isSeen(`postrider_integration_${name}`));
    expect(await readMetric(`postrider_${name}`)).toBeGreaterThan(0);
  }
  expect(await readMetric('postrider_integration_window_messages', own)).toBeGreaterThan(0);
  expect(await readMetric('postrider_integration_rate_limit_per_second', own)).toBe(1_000);
  expect(await readMetric('postrider_integration_batches_waiting', own)).toBe(0);
  expect(await readMetric('postrider_integration_provider_breaker_open', own)).toBe(0);
  expect(await readMetric('postrider_integrations', '{state="sending"}')).toBe(1);
  Object.assign(given.sink.behaviour, { latencyMs: 0 });
  expect(await sending).toMatchObject({ sent: 200 });
  await until('all is stored', async () => (await readMetric('postrider_outcomes_unstored')) === 0);
}, 60_000);

test('only as many integrations have metrics of their own as are asked for', async () => {
  measureSending(given.context, 1);
  for (const integrationId of ['smtp-1', 'smtp-2']) {
    await given.sender.sendBatch(batchOf(people(1), { integrationId }));
  }
  const text = await registry.metrics();
  expect(text.match(/^postrider_integration_window_messages{/gm)).toHaveLength(1);
});

test('a hold is seen', async () => {
  measureSending(given.context, 0);
  expect(await readMetric('postrider_on_hold')).toBe(0);
  await given.holds.placeHold({ reason: 'a trial' });
  expect(await readMetric('postrider_on_hold')).toBe(1);
  await given.holds.releaseHold({});
  expect(await readMetric('postrider_on_hold')).toBe(0);
});
