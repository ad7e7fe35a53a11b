import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { RuntimeOptions } from '@temporalio/worker';
import { alsoServe } from '#lib/process/serve-metrics.ts';
import type { TelemetryConfig } from '#lib/telemetry/config.ts';

const readMaxMs = 2_000;

/**
 * Has the SDK serve its metrics on a port of the loopback address, from which they are added to the
 * process's own: its core has an exporter and no other way to read them.
 */
export async function workerMetrics({
  metricsPort,
}: TelemetryConfig): Promise<NonNullable<RuntimeOptions['telemetryOptions']>> {
  if (metricsPort === undefined) return {};
  const address = `127.0.0.1:${await freePort()}`;
  alsoServe(async () => {
    const signal = AbortSignal.timeout(readMaxMs);
    const answer = await fetch(`http://${address}/metrics`, { signal });
    return answer.text();
  });
  const prometheus = { bindAddress: address, countersTotalSuffix: true, unitSuffix: true };
  return { metrics: { prometheus: { ...prometheus, useSecondsForDurations: true } } };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
