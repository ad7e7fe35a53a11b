import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { begin } from '../test/journal.ts';
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

test('the last line of each message is on the disk when a body is begun', async () => {
  const { journal, path } = givenJournal();
  journal.claim('w', ['a', 'b', 'c']);
  await begin(journal, { id: 'a' });
  journal.settle('w', sentResult('a'));
  await begin(journal, { id: 'b' });
  expect(await kindsIn(path)).toEqual([
    ['o', 'a'],
    ['b', 'b'],
    ['c', 'c'],
  ]);
  journal.close();
});

test('all that begin in one turn go to the disk together', async () => {
  const { journal, path } = givenJournal();
  const beginning = [begin(journal, { id: 'a' }), begin(journal, { id: 'b' })];
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(2);
  expect(await beginning[0]).toBe(true);
  expect(await kindsIn(path)).toEqual([
    ['b', 'a'],
    ['b', 'b'],
  ]);
  journal.close();
});

test('bodies that take long to write give others turns between them', async () => {
  const { journal } = givenJournal();
  const seen: string[] = [];
  for (const id of ['a', 'b', 'c']) {
    journal.begin({ workspaceId: 'w', id, unknownRetries: 0 }, (isOnDisk) => {
      seen.push(`${id} ${isOnDisk}`);
      const until = performance.now() + 5;
      while (performance.now() < until);
    });
  }
  while (seen.length < 5) {
    await nextTurn();
    if (seen.at(-1) !== 'other') seen.push('other');
  }
  expect(seen.join()).toContain('a true,other,b true,other,c true');
  journal.close();
});

test('a line that a kill cut short is left out', async () => {
  const { journal, path } = givenJournal();
  await begin(journal, { id: 'a' });
  await begin(journal, { id: 'b' });
  const cut = join(folder, 'cut.journal');
  const { writeFileSync } = await import('node:fs');
  writeFileSync(cut, readFileSync(path, 'utf8').slice(0, -5));
  expect(await kindsIn(cut)).toEqual([['b', 'a']]);
  journal.close();
});

test('a file that grows is written anew with what is still open', async () => {
  const { journal, path } = givenJournal(2_000);
  await begin(journal, { id: 'first' });
  for (let number = 0; number < 500; number += 1) {
    await begin(journal, { id: `m${number}` });
    journal.settle('w', sentResult(`m${number}`));
    journal.forget(`m${number}`);
  }
  expect(statSync(path).size).toBeLessThan(2_500);
  expect(await kindsIn(path)).toContainEqual(['b', 'first']);
  journal.close();
});

test('no message is begun while the disk is full, and sending goes on afterwards', async () => {
  const { journal, path } = givenJournal(500);
  // A folder in the place of the new file, as a full disk refuses it.
  mkdirSync(`${path}.new`);
  const many = Array.from({ length: 50 }, (_, number) => begin(journal, { id: `m${number}` }));
  expect(await Promise.all(many)).not.toContain(true);
  expect(journal.isWritable).toBe(false);
  rmSync(`${path}.new`, { recursive: true });
  expect(journal.isWritable).toBe(true);
  expect(await begin(journal, { id: 'last' })).toBe(true);
  expect(await kindsIn(path)).toContainEqual(['b', 'last']);
  journal.close();
});

test('a process that has recorded everything leaves no file', async () => {
  const { journal, path } = givenJournal();
  await begin(journal, { id: 'a' });
  journal.forget('a');
  journal.close();
  expect(readdirSync(folder)).not.toContain(path.slice(folder.length + 1));
});
