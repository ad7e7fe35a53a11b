import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sentResult } from '../test/results.ts';
import { Journal } from './journal.ts';
import { readJournal } from './read-journal.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function givenJournal(sizeMax?: number) {
  const owner = crypto.randomUUID();
  const journal = new Journal(folder, owner, sizeMax);
  journal.open('this database');
  return { journal, path: join(folder, `${owner}.journal`) };
}

const kindsIn = async (path: string) =>
  (await readJournal(path))?.lines.map((line) => [line[0], line[0] === 'o' ? line[2].id : line[2]]);

test('what a message has come to is on the disk when its body is begun', async () => {
  const { journal, path } = givenJournal();
  journal.claim('w', ['a', 'b', 'c']);
  journal.begin('w', 'a', 1);
  journal.settle('w', sentResult('a'));
  journal.begin('w', 'b', 1);
  expect(await kindsIn(path)).toEqual([
    ['o', 'a'],
    ['b', 'b'],
    ['c', 'c'],
  ]);
  journal.close();
});

test('a line that a kill cut short is left out', async () => {
  const { journal, path } = givenJournal();
  journal.begin('w', 'a', 1);
  journal.begin('w', 'b', 1);
  const cut = join(folder, 'cut.journal');
  const { writeFileSync } = await import('node:fs');
  writeFileSync(cut, readFileSync(path, 'utf8').slice(0, -5));
  expect(await kindsIn(cut)).toEqual([['b', 'a']]);
  journal.close();
});

test('a file that grows is written anew with what is still open', async () => {
  const { journal, path } = givenJournal(2_000);
  journal.begin('w', 'first', 1);
  for (let number = 0; number < 500; number += 1) {
    journal.begin('w', `m${number}`, 1);
    journal.settle('w', sentResult(`m${number}`));
    journal.forget(`m${number}`);
  }
  expect(statSync(path).size).toBeLessThan(2_500);
  expect(await kindsIn(path)).toContainEqual(['b', 'first']);
  journal.close();
});

test('nothing is begun while the disk takes nothing, and it goes on when it does', async () => {
  const { journal, path } = givenJournal(500);
  // A folder in the place of the new file, as a full disk refuses it.
  mkdirSync(`${path}.new`);
  const beginMany = () => {
    for (let number = 0; number < 50; number += 1) journal.begin('w', `m${number}`, 1);
  };
  expect(beginMany).toThrow('EISDIR');
  expect(journal.isWritable).toBe(false);
  rmSync(`${path}.new`, { recursive: true });
  expect(journal.isWritable).toBe(true);
  journal.begin('w', 'last', 1);
  expect(await kindsIn(path)).toContainEqual(['b', 'last']);
  journal.close();
});

test('a process that has recorded everything leaves no file', () => {
  const { journal, path } = givenJournal();
  journal.begin('w', 'a', 1);
  journal.forget('a');
  journal.close();
  expect(readdirSync(folder)).not.toContain(path.slice(folder.length + 1));
});
