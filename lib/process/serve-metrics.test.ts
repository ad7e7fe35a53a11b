import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { createLog } from '#lib/log.ts';
import { counter, gauge } from '#lib/telemetry/metrics.ts';
import { freePort } from '../../deploy/local/ports.ts';
import { until } from '../../test/stack/until.ts';
import { alsoServe, serveMetrics } from './serve-metrics.ts';

const log = createLog('test', 'silent');

test('a scrape has what can be read, whatever cannot, beside 150 idle connections', async () => {
  counter('test_events_total', 'Events.', ['kind']).inc({ kind: 'good' });
  gauge({ name: 'test_depth', help: 'Depth.' }, (set) => set(3));
  gauge({ name: 'test_broken', help: 'Broken.' }, () => Promise.reject(new Error('no database')));
  alsoServe(async () => 'other_total 1');
  alsoServe(() => Promise.reject(new Error('gone')));
  const metricsPort = await freePort();
  const config = { metricsOfIntegrations: 0, tracesEndpoint: undefined, tracesName: '' };
  serveMetrics({ ...config, metricsHost: '127.0.0.1', metricsPort }, log);
  const url = `http://127.0.0.1:${metricsPort}`;
  await until('it listens', async () => (await fetch(url).catch(() => undefined)) !== undefined);
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text).toMatch(/^test_events_total{kind="good"} 1$/m);
  expect(text).toMatch(/^test_depth 3$/m);
  expect(text).not.toMatch(/^test_broken /m);
  expect(text).toMatch(/^other_total 1$/m);
  expect(text).toMatch(/^nodejs_eventloop_utilization_ratio /m);
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
  expect((await fetch(`${url}/other`)).status).toBe(404);
  const idle = Array.from({ length: 150 }, () => connect(metricsPort, '127.0.0.1'));
  await Promise.all(idle.map((socket) => once(socket, 'connect')));
  expect((await fetch(`${url}/metrics`)).status).toBe(200);
  for (const socket of idle) socket.destroy();
});
