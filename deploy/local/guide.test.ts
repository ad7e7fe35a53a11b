import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { isGuideStale } from './guide.ts';

const root = mkdtempSync(join(tmpdir(), 'postrider-clone-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function changed(file: string, second: number): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), '');
  utimesSync(join(root, file), second, second);
}

test('a guide is built where there is none, and again once a page has changed', () => {
  changed('docs/guides/webhooks.md', 1_000);
  changed('README.md', 1_000);
  expect(isGuideStale(root)).toBe(true);
  changed('guide/site/index.html', 2_000);
  expect(isGuideStale(root)).toBe(false);
  changed('docs/guides/webhooks.md', 3_000);
  expect(isGuideStale(root)).toBe(true);
});
