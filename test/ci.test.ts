import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const program = resolve(import.meta.dirname, '../.ci/tests.mjs');

/** Answers of a run that is given no files, and of one that is given some. */
type Runs = { first: string; again?: string };

const summed = (passed: number, failed: number) =>
  `Test Suites: 1 failed, 1 passed, 2 total\nTests:       ${failed} failed, ${passed} passed, 9 total\n`;
const good = 'Test Suites: 2 passed, 2 total\nTests:       4 passed, 4 total\n';
const broken = (file: string) => `FAIL ${file} (7 s)\n  ● a thing works\n\n    expected 1\n`;

/** Runs CI's tests with an `npm` of our own: its `test` answers as given, the others are good. */
async function ran({ first, again = '' }: Runs): Promise<{ code: number; lines: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'ci-'));
  mkdirSync(join(folder, 'texts'));
  for (const [name, text] of Object.entries({ first, again, good })) {
    writeFileSync(join(folder, 'texts', name), text);
  }
  const script = `#!/bin/sh
cd ${folder}/texts
if [ "$2" != test ]; then cat good; exit 0; fi
if [ "$3" = -- ]; then cat again; else cat first; fi
! grep -qs '[1-9] failed' "$([ "$3" = -- ] && echo again || echo first)"
`;
  writeFileSync(join(folder, 'npm'), script);
  chmodSync(join(folder, 'npm'), 0o755);
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` };
  return new Promise((end) => {
    execFile(process.execPath, [program], { env }, (error, stdout) => {
      end({ code: Number(error?.code ?? 0), lines: stdout.trimEnd().split('\n') });
    });
  });
}

test('CI counts the tests of all commands', async () => {
  const { code, lines } = await ran({ first: good });
  expect({ code, last: lines.at(-1) }).toEqual({ code: 0, last: '12 passed, 0 failed' });
});

test('CI says what failed, once more at the end', async () => {
  const first = `${broken('a.test.ts')}${broken('a.test.ts')}${summed(3, 1)}`;
  const { code, lines } = await ran({ first, again: first });
  expect({ code, last: lines.at(-1) }).toEqual({ code: 1, last: '11 passed, 1 failed' });
  expect(lines.slice(-12)).toContain('Run once more, alone, 1 failed: a.test.ts');
  expect(lines.slice(-12)).toContain('    expected 1');
});

test('CI runs a file that failed once more, and names it where it passes then', async () => {
  const first = `${broken('a.test.ts')}${summed(3, 1)}`;
  const { code, lines } = await ran({ first, again: good });
  expect({ code, last: lines.at(-1) }).toEqual({ code: 0, last: '12 passed, 0 failed' });
  expect(lines).toContain('Run once more, alone, 0 failed: a.test.ts');
});

test('CI keeps a failure where the run of its file alone fails beside its tests', async () => {
  const first = `${broken('a.test.ts')}${summed(3, 1)}`;
  const { code, lines } = await ran({ first, again: `${good}8 failed\n` });
  expect({ code, last: lines.at(-1) }).toEqual({ code: 1, last: '11 passed, 1 failed' });
});

test('CI runs nothing again where many files failed', async () => {
  const files = Array.from({ length: 6 }, (_, at) => broken(`${at}.test.ts`));
  const { code, lines } = await ran({ first: `${files.join('')}${summed(3, 6)}`, again: good });
  expect({ code, last: lines.at(-1) }).toEqual({ code: 1, last: '11 passed, 6 failed' });
});

test('CI fails where a run has no end, and where one fails beside its tests', async () => {
  expect((await ran({ first: 'out of memory\n' })).code).toBe(1);
  const { code } = await ran({ first: `${good}8 failed\n` });
  expect(code).toBe(1);
});
