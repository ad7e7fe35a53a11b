import { expect, test } from '@jest/globals';
import { workerMetrics } from './worker-metrics.ts';

const telemetry = {
  metricsHost: '0.0.0.0',
  metricsOfIntegrations: 0,
  tracesEndpoint: undefined,
  tracesName: '',
};

test('the metrics of the SDK are served on loopback alone', async () => {
  const { metrics } = await workerMetrics({ ...telemetry, metricsPort: 9_464 });
  expect(metrics).toMatchObject({
    prometheus: { bindAddress: expect.stringMatching(/^127\.0\.0\.1:\d+$/) },
  });
});

test('without a port for metrics the SDK serves none', async () => {
  expect(await workerMetrics({ ...telemetry, metricsPort: undefined })).toEqual({});
});
