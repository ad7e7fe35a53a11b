import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const root = resolve(import.meta.dirname, '..');
const columnsMax = 100;
const folders = ['bench', 'deploy', 'gateway', 'lib', 'scripts', 'services', 'test', 'workflows'];

test(`comments have at most ${columnsMax} columns`, () => {
  const files = folders.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }));
  expect(files.length).toBeGreaterThan(1_000);
  const wide = files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => {
        const isComment = /^\s*(\/\/(?! biome-ignore)|\/?\*)/.test(line);
        return isComment && [...line].length > columnsMax ? [`${file}:${index + 1}`] : [];
      }),
  );
  expect(wide).toEqual([]);
});
