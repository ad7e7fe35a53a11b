import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Dashboard, dashboards, type Panel } from './panels.ts';

const [columns, width, height] = [2, 12, 8];
// Grafana fills in the data source that is chosen above the panels.
const datasource = { type: 'prometheus', uid: '$' + '{datasource}' };

/** The file of a dashboard, as Grafana imports it. */
export function dashboardJson({ uid, title, panels }: Dashboard): string {
  const source = { name: 'datasource', type: 'datasource', query: 'prometheus' };
  const dashboard = {
    uid,
    title,
    tags: ['postrider'],
    timezone: 'browser',
    refresh: '10s',
    schemaVersion: 39,
    time: { from: 'now-1h', to: 'now' },
    templating: { list: [source] },
    panels: panels.map(panelJson),
  };
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}

function panelJson({ title, unit, queries }: Panel, at: number): object {
  return {
    id: at + 1,
    title,
    type: 'timeseries',
    datasource,
    gridPos: {
      x: (at % columns) * width,
      y: Math.floor(at / columns) * height,
      w: width,
      h: height,
    },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: Object.entries(queries).map(([legendFormat, expr], query) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + query),
      datasource,
      expr,
      legendFormat,
    })),
  };
}

/** `npm run dashboards` writes them all. */
if (import.meta.main) {
  for (const dashboard of dashboards) {
    const file = join(import.meta.dirname, 'dashboards', `${dashboard.uid}.json`);
    writeFileSync(file, dashboardJson(dashboard));
  }
}
