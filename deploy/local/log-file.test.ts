import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { openLogFile } from './log-file.ts';

const root = mkdtempSync(join(tmpdir(), 'postrider-log-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('text that cannot be written is left out, and the file says how much is missing', () => {
  const folder = join(root, 'gone');
  mkdirSync(folder);
  const file = join(folder, 'service.log');
  const write = openLogFile(file);
  write('one\n');
  rmSync(folder, { recursive: true });
  write('two\n');
  write('tree\n');
  mkdirSync(folder);
  write('four\n');
  write('five\n');
  expect(readFileSync(file, 'utf8')).toBe('\n9 bytes could not be written here\nfour\nfive\n');
});

test('a full file becomes the one before', () => {
  const file = join(root, 'full.log');
  writeFileSync(file, 'x'.repeat(10_000_001));
  openLogFile(file)('new\n');
  expect(readFileSync(file, 'utf8')).toBe('new\n');
  expect(readFileSync(`${file}.1`, 'utf8')).toHaveLength(10_000_001);
});

test('a full file that was removed is begun anew', () => {
  const file = join(root, 'removed.log');
  writeFileSync(file, 'x'.repeat(10_000_001));
  const write = openLogFile(file);
  rmSync(file);
  write('one\n');
  write('two\n');
  expect(readFileSync(file, 'utf8')).toBe('\n4 bytes could not be written here\ntwo\n');
});
