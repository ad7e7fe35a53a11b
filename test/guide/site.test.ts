import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway, type TestGateway } from '../../gateway/testing.ts';
import { hasChromium, openBrowser } from '../contract/chromium.ts';
import { makeGuideFolder } from '../installation/image.ts';

/** The guide as the image builds it, served by a gateway. */

const folder = mkdtempSync(join(tmpdir(), 'postrider-guide-'));
const site = join(folder, 'guide/site');
const inChromium = hasChromium ? test : test.skip;
let gateway: TestGateway;

beforeAll(async () => {
  makeGuideFolder(folder);
  const built = promisify(execFile)(process.execPath, ['scripts/guide/main.ts'], { cwd: folder });
  await built.catch(({ stderr }) => {
    throw new Error(`the guide was not built: ${stderr}`);
  });
  gateway = await startGateway(1, { guideFolder: site });
}, 300_000);
afterAll(async () => {
  await gateway?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('every link, script, style and picture of every page is there, and none is of another host', async () => {
  const files = globSync('**/*.html', { cwd: site });
  expect(files.length).toBeGreaterThan(100);
  const targets = new Set<string>();
  const foreign = new Set<string>();
  for (const file of files) {
    const text = readFileSync(join(site, file), 'utf8');
    for (const [, name, target = ''] of text.matchAll(/ (href|src)="([^"]*)"/g)) {
      const { origin, pathname, protocol } = new URL(target, `${gateway.url}/guide/${file}`);
      if (origin === gateway.url) targets.add(pathname);
      // A link may lead elsewhere, a part of a page may not.
      else if (name === 'src') foreign.add(target);
      else if (!['https:', 'http:', 'data:'].includes(protocol)) foreign.add(target);
    }
    expect(text).not.toMatch(/<link [^>]*href="https?:/);
  }
  expect([...foreign]).toEqual([]);
  const dead: string[] = [];
  for (const target of targets) {
    const { status } = await fetch(`${gateway.url}${target}`, { method: 'HEAD' });
    if (status !== 200) dead.push(target);
  }
  expect(dead).toEqual([]);
});

test('each page has its Markdown beside it', () => {
  const pages = globSync('**/*.html', { cwd: site }).filter((file) => file !== '404.html');
  const without = pages.filter((file) => {
    const markdown = readFileSync(join(site, file.replace(/html$/, 'md')), 'utf8');
    return !markdown.startsWith('# ');
  });
  expect(without).toEqual([]);
});

inChromium('a reader searches without a network, and no policy stops a page', async () => {
  const browser = await openBrowser();
  try {
    const page = await browser.newPage({ colorScheme: 'dark' });
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('request', (request) => {
      if (!/^data:/.test(request.url()) && !request.url().startsWith(gateway.url))
        complaints.push(request.url());
    });
    await page.goto(`${gateway.url}/guide/`);
    expect(await page.locator('html').getAttribute('class')).toContain('dark');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill('rotate a key');
    await page.getByRole('option').first().click();
    await page.getByRole('heading', { name: 'Rotate a key' }).waitFor();
    await page.getByRole('link', { name: 'This page as Markdown' }).click();
    await page.waitForURL('**/guides/api-keys.md');
    expect(complaints).toEqual([]);
  } finally {
    await browser.close();
  }
});
