import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Fleet, fleets } from './fleets.ts';
import { databaseTbMax, latenessMinutesMax } from './load.ts';
import { type Curve, count, drawLateness } from './plot.ts';
import { simulate } from './simulate.ts';
import { logMbPerSecond, type Size, sizeFor } from './size.ts';

const docs = resolve(import.meta.dirname, '../../docs/operations');
export const page = resolve(docs, 'scaling.md');
export const picture = resolve(docs, 'scaling.svg');

const target = 100_000_000;
const shown = [1e6, 1e7, 1e8, 3e8, 1e9];
const stepsPerTen = 8;

/**
 * `npm run bench -- scaling`: works out the page and the picture from the unit costs and writes
 * them.
 */
export async function benchScaling(): Promise<void> {
  const { tables, svg } = workOut();
  writeFileSync(picture, svg);
  writeFileSync(page, withTables(readFileSync(page, 'utf8'), tables));
  for (const table of Object.values(tables)) console.log(`\n${table}`);
}

export function workOut(): { tables: Record<string, string>; svg: string } {
  return {
    tables: { size: sizeTable(sizeFor(target)), sums: sums(sizeFor(target)), bend: bendTable() },
    svg: drawLateness(fleets.map(curveOf)),
  };
}

/** The page with each table in its place. */
export function withTables(text: string, tables: Record<string, string>): string {
  return Object.entries(tables).reduce(
    (sum, [name, table]) =>
      sum.replace(
        new RegExp(`(<!-- ${name} -->\n)[^]*?(\n<!-- /${name} -->)`),
        (_, before, after) => `${before}\n${table}\n${after}`,
      ),
    text,
  );
}

function curveOf(fleet: Fleet): Curve {
  const steps = Array.from(
    { length: 4 * stepsPerTen + 1 },
    (_, at) => 10 ** (5 + at / stepsPerTen),
  );
  const points = steps.map((recipients) => ({
    recipients,
    minutes: simulate(fleet, recipients).latenessMinutes,
  }));
  return { name: fleet.name, points };
}

const lateText = (minutes: number): string => {
  if (minutes >= 1_440) return 'never';
  if (minutes >= 60) return `${(minutes / 60).toFixed(1)} h`;
  return minutes < 1 ? '< 1 min' : `${minutes} min`;
};

function bendTable(): string {
  const rows = fleets.map((fleet) => {
    const lateness = shown.map((each) => lateText(simulate(fleet, each).latenessMinutes));
    const bend = bendOf(fleet);
    const cores = fleet.servers.reduce((sum, server) => sum + server.cores, 0) * fleet.cells;
    return [fleet.name, `${cores}`, ...lateness, bend.text, bend.by];
  });
  const head = ['fleet', 'cores', ...shown.map(count), 'bends at', 'short of'];
  return markdown([head, ...rows]);
}

/** The volume from which mail is later than it may be, to 1 %. */
function bendOf(fleet: Fleet): { text: string; by: string } {
  let [good, late] = [1e6, 1e10];
  while (late / good > 1.01) {
    const middle = Math.sqrt(good * late);
    if (simulate(fleet, middle).latenessMinutes > latenessMinutesMax) late = middle;
    else good = middle;
  }
  const { tightest } = simulate(fleet, late);
  return { text: `${Math.round(late / 1e6)} million`, by: tightest.name };
}

function sizeTable({ parts }: Size): string {
  const rows = parts.map(({ name, cores, processes }) => {
    const what = name.endsWith('-db') ? `PostgreSQL of ${name.slice(0, -3)}` : name;
    return [what, cores.toFixed(1), name.endsWith('-db') ? 'one server' : `${processes}`];
  });
  const all = parts.reduce((sum, { cores }) => sum + cores, 0);
  return markdown([
    ['part', 'cores', 'processes'],
    ...rows.map(([name = '', cores = '', processes = '']) => [
      name === 'temporal' ? 'Temporal' : name,
      cores,
      name === 'temporal' ? 'a cluster' : processes,
    ]),
    ['all', all.toFixed(0), ''],
  ]);
}

const whole = (value: number): string => Math.round(value).toLocaleString('en');

function sums(size: Size): string {
  const { monthly } = size;
  const own = monthly.cores + monthly.disk + monthly.traffic;
  return markdown([
    ['what', 'how much'],
    ...size.rates.map(([kind, perSecond]) => [`${kind}, a second`, whole(perSecond)]),
    ['connections to PostgreSQL, all databases', whole(size.connections)],
    ['disk', `${(size.diskGb / 1_000).toFixed(1)} TB`],
    ['of it messages', `${size.messagesTb.toFixed(1)} TB`],
    [
      `cells, with ${databaseTbMax} TB in a database at most`,
      `${Math.ceil(size.messagesTb / databaseTbMax)}`,
    ],
    ['write-ahead log, on average', `${logMbPerSecond(size).toFixed(1)} MB/s`],
    ['mail sent, a day', `${(size.sentGbPerDay / 1_000).toFixed(1)} TB`],
    ['events of histories, a day', whole(size.historyEventsPerDay)],
    ['the same, in the minute of a full hour', `${whole(size.historyEventsPerSecond)}/s`],
    ['cores, a month', `$${whole(monthly.cores)}`],
    ['disk, a month', `$${whole(monthly.disk)}`],
    ['traffic, a month', `$${whole(monthly.traffic)}`],
    ['together', `$${whole(own)}`],
    ['a relay that is not one’s own, a month', `$${whole(monthly.relay)}`],
  ]);
}

/** Columns as wide as their longest cell, as the formatter writes them. */
function markdown([head = [], ...rows]: string[][]): string {
  const widths = head.map((_, at) =>
    Math.max(3, ...[head, ...rows].map((row) => row[at]?.length ?? 0)),
  );
  const lineOf = (cells: string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [lineOf(head), lineOf(widths.map((size) => '-'.repeat(size))), ...rows.map(lineOf)].join(
    '\n',
  );
}
