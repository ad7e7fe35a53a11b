import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { dashboards } from '../../deploy/grafana/panels.ts';
import type { TestStack } from '../stack.ts';

/** The offsets of the ports of `/metrics`, with one process of each service. */
const offsets = {
  gateway: 100,
  'broadcasts-worker': 101,
  'contacts-worker': 102,
  'webhooks-worker': 103,
  workspaces: 110,
  contacts: 111,
  templates: 112,
  broadcasts: 113,
  messages: 114,
  webhooks: 115,
};

/** The metrics of every process of a stack, by its name. */
export async function scrapeAll({ settings }: TestStack): Promise<[name: string, text: string][]> {
  const base = Number(new URL(settings.BASE_URL ?? '').port);
  return Promise.all(
    Object.entries(offsets).map(async ([name, offset]): Promise<[string, string]> => {
      const answer = await fetch(`http://127.0.0.1:${base + offset}/metrics`);
      return [name, await answer.text()];
    }),
  );
}

/** The names of a scrape, those of the parts of histograms included. */
export function metricsIn(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => name + part) : [name],
  );
}

/** The metrics that dashboards and alerts read. */
export function wantedMetrics(): string[] {
  const alerts = readFileSync(
    resolve(import.meta.dirname, '../../deploy/grafana/alerts.yml'),
    'utf8',
  );
  const ofAlerts = [...alerts.matchAll(/expr: >-\n(.*)/g)].map(([, expression = '']) => expression);
  const ofPanels = dashboards.flatMap(({ panels }) =>
    panels.flatMap(({ queries }) => Object.values(queries)),
  );
  const names = [...ofAlerts, ...ofPanels].flatMap((expression) => {
    const plain = expression.replaceAll(/\{[^}]*\}|\bby \([^)]*\)/g, ' ');
    return plain.match(/\b[a-z]+_[a-z0-9_]+\b/g) ?? [];
  });
  return [...new Set(names)].filter((name) => name !== 'histogram_quantile');
}
