import { registry } from '#lib/telemetry/metrics.ts';

/**
 * The value of a metric, with its labels as Prometheus writes them; undefined if a scrape does not
 * have it.
 */
export async function readMetric(name: string, labels = ''): Promise<number | undefined> {
  const lines = (await registry.metrics()).split('\n');
  const line = lines.find((each) => each.startsWith(`${name}${labels} `));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}
