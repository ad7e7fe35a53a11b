import { createServer, type Server } from 'node:http';
import { collectDefaultMetrics } from 'prom-client';
import { limitHttpConnections } from '#lib/limits/connections.ts';
import type { Log } from '#lib/log.ts';
import type { TelemetryConfig } from '#lib/telemetry/config.ts';
import { gauge, registry } from '#lib/telemetry/metrics.ts';

/** Reads metrics that another library has, in the text format of Prometheus. */
type Source = () => Promise<string>;

const sources: Source[] = [];

/**
 * How often the delay of the event loop is measured; `nodejs_eventloop_lag_*` includes it. The
 * library's own 10 ms wake a process at rest a hundred times a second.
 */
export const eventLoopSampleMs = 50;

const requestTimeout = 10_000;
const connectionsMax = 100;

/** Adds the metrics of a library to `/metrics`. */
export function alsoServe(source: Source): void {
  sources.push(source);
}

/** Serves `/metrics` on a port of its own, where one is set. It keeps no process alive. */
export function serveMetrics({ metricsHost, metricsPort }: TelemetryConfig, log: Log): void {
  if (metricsPort === undefined) return;
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopSampleMs });
  addUtilization();
  const server: Server = createServer(
    { requestTimeout, headersTimeout: requestTimeout },
    (request, response) => {
      if (request.method !== 'GET' || request.url?.split('?', 1)[0] !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      allMetrics().then(
        (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
        (error: unknown) => {
          log.warn({ err: error }, 'metrics could not be read');
          response.writeHead(500).end();
        },
      );
    },
  );
  limitHttpConnections(server, { max: connectionsMax, perAddressMax: connectionsMax / 2 });
  server.once('error', (error) => {
    // A process that cannot be watched still works.
    log.error({ err: error, metricsPort }, 'METRICS_PORT cannot be listened on');
  });
  server.listen(metricsPort, metricsHost).unref();
}

async function allMetrics(): Promise<string> {
  const others = sources.map((source) => source().catch(() => ''));
  return [await registry.metrics(), ...(await Promise.all(others))].join('\n');
}

function addUtilization(): void {
  let before = performance.eventLoopUtilization();
  const about = {
    name: 'nodejs_eventloop_utilization_ratio',
    help: 'The share of the time since the last scrape in which the event loop was busy, from 0 to 1.',
  };
  gauge(about, (set) => {
    const now = performance.eventLoopUtilization();
    set(performance.eventLoopUtilization(now, before).utilization);
    before = now;
  });
}
