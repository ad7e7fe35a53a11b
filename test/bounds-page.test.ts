import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const root = resolve(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/operations/security.md'), 'utf8');
const section = page.slice(page.indexOf('## Bounds'), page.indexOf('## When something leaks'));
/** Cells of a row, without the lines under the heads of tables. */
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('|') && !/^[| -]+$/.test(line))
  .map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );

test('every bound of the page says what happens beyond it, and how it is set', () => {
  expect(rows.length).toBeGreaterThan(35);
  expect(rows.filter((cells) => cells.some((cell) => cell === ''))).toEqual([]);
  expect(new Set(rows.map((cells) => cells.length))).toEqual(new Set([9, 5]));
});

test('every test that the page names exists', () => {
  const named = rows.flatMap((cells) => {
    const last = cells.at(-1) ?? '';
    const name = last.split('`: ')[1] ?? '';
    return [...last.matchAll(/`([^`]+\.test\.ts)`/g)].map(([, file = '']) => ({ file, name }));
  });
  expect(named.length).toBeGreaterThan(35);
  const missing = named.filter(
    ({ file, name }) => !readFileSync(join(root, file), 'utf8').includes(name),
  );
  expect(missing).toEqual([]);
});
