import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway, type TestGateway } from '../gateway/testing.ts';

const root = resolve(import.meta.dirname, '..');
const documents = globSync(['*.md', '{docs,bench,deploy,gateway,test}/**/*.md'], { cwd: root });
const textOf = (file: string) => readFileSync(resolve(root, file), 'utf8');

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway(1);
}, 30_000);
afterAll(() => gateway.stop());

/** The anchor that a heading gets, as GitHub makes it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');

function isThere(file: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const found = path === '' ? resolve(root, file) : resolve(root, dirname(file), path);
  if (!existsSync(found)) return false;
  if (anchor === undefined || !found.endsWith('.md')) return true;
  const headings = readFileSync(found, 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].some(([, heading = '']) => anchorOf(heading) === anchor);
}

test('no link of a document is dead', () => {
  const links = documents.flatMap((file) => {
    const targets = textOf(file).matchAll(/\]\(([^)\s]+)\)/g);
    return [...targets].map(([, target = '']) => ({ file, target }));
  });
  const inside = links.filter(({ target }) => !/^[a-z]+:/.test(target));
  expect(inside.length).toBeGreaterThan(20);
  expect(inside.filter(({ file, target }) => !isThere(file, target))).toEqual([]);
});

test('no link of a document is split over lines', () => {
  const split = documents.flatMap(
    (file) => textOf(file).match(/\[[^[\]\n]*\n[^[\]\n]*\]\([^)]*\)/g) ?? [],
  );
  expect(split).toEqual([]);
});

test('no page that a document names is missing', async () => {
  const named = documents.flatMap((file) => [
    ...textOf(file).matchAll(/`(?:\$BASE_URL)?(\/(?:docs[\w/.-]*|openapi\.json))`/g),
  ]);
  expect(named.length).toBeGreaterThan(3);
  for (const path of new Set(named.map(([, path]) => path))) {
    const { status } = await fetch(`${gateway.url}${path}`);
    expect({ path, status }).toEqual({ path, status: 200 });
  }
});

test('no link of a page is dead', async () => {
  const seen = new Set(['/']);
  for (const path of seen) {
    const answer = await fetch(`${gateway.url}${path}`);
    expect({ path, status: answer.status }).toEqual({ path, status: 200 });
    if (!answer.headers.get('content-type')?.startsWith('text/html')) continue;
    const text = await answer.text();
    for (const [, target = ''] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
      const { origin, pathname, hash } = new URL(target, `${gateway.url}${path}`);
      if (target.startsWith('#')) expect(text).toContain(`id="${hash.slice(1)}"`);
      else if (origin === gateway.url) seen.add(pathname);
    }
  }
  expect([...seen]).toEqual(expect.arrayContaining(['/docs', '/docs/limits', '/openapi.json']));
});
