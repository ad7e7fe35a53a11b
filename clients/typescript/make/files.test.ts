import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { madeFiles } from './files.ts';

const folder = join(import.meta.dirname, '../src/made');

test('the client is that of the contract; `npm run gen` makes it', () => {
  const made = madeFiles();
  expect(readdirSync(folder).toSorted()).toEqual([...made.keys()].toSorted());
  const stale = [...made].filter(
    ([name, text]) => readFileSync(join(folder, name), 'utf8') !== text,
  );
  expect(stale.map(([name]) => name)).toEqual([]);
});
