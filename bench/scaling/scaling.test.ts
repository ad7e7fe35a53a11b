import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { unitCosts } from './costs.ts';
import { fleets } from './fleets.ts';
import { page, picture, withTables, workOut } from './scaling.ts';
import { simulate } from './simulate.ts';
import { sizeFor } from './size.ts';

const [machine] = fleets;

test('the page and its picture are worked out from the unit costs', () => {
  const { tables, svg } = workOut();
  const text = readFileSync(page, 'utf8');
  expect(withTables(text, tables)).toBe(text);
  expect(readFileSync(picture, 'utf8')).toBe(svg);
}, 120_000);

test('the unit costs of a broadcast are those of the page of benchmarks', () => {
  const readme = readFileSync(resolve(import.meta.dirname, '../history.md'), 'utf8');
  const { messages, postgres, contacts } = unitCosts.cpuMicros.broadcast.by;
  const [, ...shown] =
    /: messages (\d+), PostgreSQL (\d+), sink \d+, contacts (\d+)/.exec(readme) ?? [];
  expect(shown.map(Number)).toEqual([messages, postgres, contacts]);
});

test('more mail is never sooner, and a fleet that is too small never catches up', () => {
  if (!machine) throw new Error('there is no fleet');
  const late = [1e6, 1e7, 1e8, 1e9].map((mails) => simulate(machine, mails).latenessMinutes);
  expect(late).toEqual(late.toSorted((one, other) => one - other));
  expect(late[0]).toBeLessThan(15);
  expect(late[3]).toBeGreaterThan(1_440);
});

test('processors and disk grow with the mail, connections at least double the processes', () => {
  const [small, large] = [sizeFor(1e7), sizeFor(1e9)];
  expect(large.diskGb).toBeGreaterThan(10 * small.diskGb);
  const coresOf = ({ parts }: typeof small) => parts.reduce((sum, { cores }) => sum + cores, 0);
  expect(coresOf(large)).toBeGreaterThan(10 * coresOf(small));
  expect(
    small.parts.every(({ name, processes }) => /-db$|temporal/.test(name) || processes >= 2),
  ).toBe(true);
});
