import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { contracts } from './contracts.ts';

test('every file of the contract that has an HTTP operation is served', () => {
  const root = join(import.meta.dirname, '../../proto');
  const files = globSync('postrider/**/*.proto', { cwd: root }).filter((file) =>
    readFileSync(join(root, file), 'utf8').includes('option (google.api.http)'),
  );
  const served = contracts.map(({ name }) => `${name}.proto`);
  expect(files.length).toBeGreaterThan(15);
  expect(files.filter((file) => !served.includes(file))).toEqual([]);
});
