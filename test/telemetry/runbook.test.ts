import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { dashboardJson } from '../../deploy/grafana/make.ts';
import { dashboards } from '../../deploy/grafana/panels.ts';
import { readStackConfig } from '../../deploy/local/stack-config.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(resolve(root, file), 'utf8');
const matches = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, found = '']) => found);

const entries = matches(read('docs/operations/runbook.md'), /^### (.+)$/gm);
const alerts = matches(read('deploy/grafana/alerts.yml'), /- alert: (\w+)/g);
const faults = matches(read('docs/operations/faults.md'), /^## (\d+)\./gm).map(
  (row) => `Fault ${row}`,
);

test('every alert and every fault has an entry in the runbook, and no other has', () => {
  expect(alerts.length).toBeGreaterThan(0);
  expect(faults.length).toBeGreaterThan(0);
  expect(entries).toEqual([...alerts, ...faults]);
});

test('every entry says what it means, what to look at and what to do', () => {
  const texts = read('docs/operations/runbook.md').split(/^### /m).slice(1);
  const parts = [/^- \*\*Means:\*\* \S/m, /^- \*\*Look at:\*\* \S/m, /^- \*\*Do:\*\* \S/m];
  expect(texts.filter((text) => !parts.every((part) => part.test(text)))).toEqual([]);
});

test('every alert links to its entry', () => {
  const links = matches(read('deploy/grafana/alerts.yml'), /runbook_url: (\S+)/g);
  expect(links).toEqual(alerts.map((name) => `docs/operations/runbook.md#${name.toLowerCase()}`));
});

test.each(dashboards)('the file of the dashboard $title is made from its panels', (dashboard) => {
  const file = `deploy/grafana/dashboards/${dashboard.uid}.json`;
  expect(read(file)).toBe(dashboardJson(dashboard));
});

test('Prometheus scrapes every process of the local stack', () => {
  const { ports } = readStackConfig({}, root);
  const scraped = [
    ...read('deploy/grafana/prometheus.yml').matchAll(/127\.0\.0\.1:(\d+).*process: ([\w-]+)/g),
  ].map(([, port, name]) => [name, Number(port)]);
  expect(Object.fromEntries(scraped)).toEqual(ports.metrics);
});
