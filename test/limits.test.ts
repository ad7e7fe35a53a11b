import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { resourceNames } from '#lib/quotas/resources.ts';
import { serviceLimits } from '../gateway/docs/limits.ts';

const root = resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(resolve(root, file), 'utf8');
const documented = serviceLimits.flatMap(([, rows]) => rows);

test.each(documented)('$source is what the page of limits says', ({ source, value }) => {
  const [file = '', name] = source.split(' ');
  const [, text] =
    new RegExp(`^(?:export )?const ${name} = ([\\d_ *]+);`, 'm').exec(read(file)) ?? [];
  expect(runInNewContext(`${text}`)).toBe(value);
});

test('every limit that refuses a workspace more of something is on the page', () => {
  const files = globSync('services/**/*.ts', { cwd: root }).filter(
    (file) => !/\.test\.ts$/.test(file),
  );
  const limiting = files.flatMap((file) => {
    const names = read(file).matchAll(/LIMIT_OF_WORKSPACE'\s*,\s*`[^`]*\$\{(\w+)\}/g);
    return [...names].map(([, name]) => name);
  });
  expect(limiting.length).toBeGreaterThanOrEqual(3);
  const names = documented.map(({ source }) => source.split(' ')[1]);
  expect(limiting.filter((name) => !names.includes(name))).toEqual([]);
});

test('every quota that a service counts is on the page, and every one on the page is counted', () => {
  const counted = globSync('services/*/store.ts', { cwd: root }).flatMap((file) =>
    [...(read(file).split('const counts')[1] ?? '').matchAll(/^ {2}(\w+):/gm)].map(
      ([, name]) => name,
    ),
  );
  expect(counted.sort()).toEqual([...resourceNames].sort());
});
