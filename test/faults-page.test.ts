import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const root = resolve(import.meta.dirname, '..');

test('every test in docs/operations/faults.md exists', () => {
  const page = readFileSync(join(root, 'docs/operations/faults.md'), 'utf8');
  const named = [...page.matchAll(/^- `([^`]+)`: (.+)$/gm)];
  expect(named.length).toBeGreaterThan(80);
  const missing = named.filter(
    ([, file = '', name = '']) => !readFileSync(join(root, file), 'utf8').includes(name),
  );
  expect(missing.map(([text]) => text)).toEqual([]);
});
