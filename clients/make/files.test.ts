import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { folders, generatedFiles } from './files.ts';

const root = resolve(import.meta.dirname, '../..');

test('clients are those of the contract; `npm run gen` makes them', () => {
  const made = generatedFiles();
  const kept = folders.flatMap((folder) => globSync(`${folder}/*.*`, { cwd: root }));
  expect(kept.toSorted()).toEqual([...made.keys()].toSorted());
  const stale = [...made].filter(([file, text]) => readFileSync(join(root, file), 'utf8') !== text);
  expect(stale.map(([file]) => file)).toEqual([]);
});
