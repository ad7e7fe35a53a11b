import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '../../test/stack/until.ts';
import { startGateway, type TestGateway } from '../testing.ts';

const folder = mkdtempSync(join(tmpdir(), 'postrider-guide-'));
const site = join(folder, 'site');
const script = "document.documentElement.classList.add('dark')";

function write(path: string, content: string | Buffer, to = site): void {
  mkdirSync(dirname(join(to, path)), { recursive: true });
  writeFileSync(join(to, path), content);
}

let gateway: TestGateway;
beforeAll(async () => {
  const page = `<title>Guide</title><script id="dark">${script}</script><script type="module" src="/guide/assets/app.js"></script>`;
  write('index.html', page.padEnd(2_000));
  write('guides/index.html', 'guides');
  write('guides/webhooks.html', 'webhooks');
  write('guides/webhooks.md', '# Webhooks');
  write('404.html', 'no such page');
  write('assets/app.0a1b2c3d.js', 'export {};'.repeat(1_000));
  write('screens/page.png', Buffer.alloc(4_000, 7));
  write('llms.txt', '# Postrider');
  write('hashmap.json', '{}');
  write('secret.key', 'not of the guide');
  writeFileSync(join(folder, 'beside.html'), 'beside the guide');
  symlinkSync(join(folder, 'beside.html'), join(site, 'link.html'));
  gateway = await startGateway(1, { guideFolder: site });
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}${path}`, { headers, redirect: 'manual' });

/** The status of a path as it is written, which `fetch` would resolve first. */
function statusOf(path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ port: gateway.port, path }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on('error', reject).end();
  });
}

test('a page of the guide runs the inline scripts that it was built with, and no other', async () => {
  const answer = await get('/guide/');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const hash = createHash('sha256').update(script).digest('base64');
  expect(answer.headers.get('content-security-policy')).toBe(
    `default-src 'none'; script-src 'self' 'sha256-${hash}'; style-src 'unsafe-inline' 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
  );
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
});

test.each([
  ['/guide', 308, '/guide/'],
  ['/guide/guides', 308, '/guide/guides/'],
  ['/guide/guides/', 200, 'guides'],
  ['/guide/guides/webhooks', 200, 'webhooks'],
  ['/guide/guides/webhooks.html', 200, 'webhooks'],
  ['/guide/guides/webhooks.md', 200, '# Webhooks'],
  ['/guide/llms.txt', 200, '# Postrider'],
  ['/llms.txt', 200, '# Postrider'],
  ['/guide/nothing', 404, 'no such page'],
  ['/guide/secret.key', 404, 'no such page'],
  ['/guide/link.html', 404, 'no such page'],
])('%s answers %i %s', async (path, status, content) => {
  const answer = await get(path);
  expect(answer.status).toBe(status);
  expect(status === 308 ? answer.headers.get('location') : await answer.text()).toBe(content);
});

test.each([
  '/guide/../beside.html',
  '/guide/%2e%2e/beside.html',
  '/guide//etc/passwd',
  '/guide/..',
  '/guide/..%2fbeside.html',
  '/guide/%2e%2e%2fbeside.html',
  '/guide/..\\beside.html',
  '/guide/%c0%ae%c0%ae/beside.html',
  '/guide/index.html%00',
  '/guide/%',
  `/guide/${'../'.repeat(2_000)}beside.html`,
])('%s leaves the folder of the guide nowhere', async (path) => {
  expect(await statusOf(path)).toBe(404);
});

test('a file that is named by its content is kept for good, any other is asked for again', async () => {
  const hashed = await get('/guide/assets/app.0a1b2c3d.js');
  expect(hashed.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(hashed.headers.get('content-encoding')).toBe('gzip');
  const page = await get('/guide/guides/webhooks.md');
  expect(page.headers.get('cache-control')).toBe('public, max-age=300');
  const etag = page.headers.get('etag') ?? '';
  const again = await get('/guide/guides/webhooks.md', { 'if-none-match': etag });
  expect([again.status, await again.text()]).toEqual([304, '']);
});

test('a page is asked for again each time, since the next build has other files beside it', async () => {
  for (const path of ['/guide/', '/guide/guides/webhooks', '/guide/hashmap.json']) {
    expect((await get(path)).headers.get('cache-control')).toBe('public, no-cache');
  }
});

test.each([
  ['*', 304],
  ['the tag', 304],
  ['the tag without W/', 304],
  ['a list with the tag', 304],
  ['a longer tag', 200],
  ['nothing', 200],
])('%s in If-None-Match is answered %i', async (given, status) => {
  const { headers } = await get('/guide/');
  const tag = headers.get('etag') ?? '';
  const written: Record<string, string> = {
    'the tag': tag,
    'the tag without W/': tag.replace('W/', ''),
    'a list with the tag': `"other",${tag}`,
    'a longer tag': tag.replace('"', '"a'),
    nothing: '',
  };
  const answer = await get('/guide/', { 'if-none-match': written[given] ?? given });
  expect(answer.status).toBe(status);
  // Caches keep a 304 by the same headers as the whole answer.
  for (const name of ['vary', 'etag', 'cache-control']) {
    expect(answer.headers.get(name)).toBe(headers.get(name));
  }
});

test.each([
  ['gzip;q=0', null],
  ['identity, gzip;q=0.000', null],
  ['*, gzip;q=0', null],
  ['br, gzip;q=0.5', 'gzip'],
  ['identity;q=0, *', 'gzip'],
])('Accept-Encoding %s is answered in %s', async (accepted, coding) => {
  const answer = await get('/guide/assets/app.0a1b2c3d.js', { 'accept-encoding': accepted });
  expect(answer.headers.get('content-encoding')).toBe(coding);
  expect(await answer.text()).toBe('export {};'.repeat(1_000));
});

test('HEAD has the headers of the page, and a range is the whole page', async () => {
  const headers = { 'accept-encoding': 'identity' };
  const whole = await get('/guide/', { ...headers, range: 'bytes=0-3' });
  expect(whole.status).toBe(200);
  const head = await fetch(`${gateway.url}/guide/`, { method: 'HEAD', headers });
  expect([head.status, await head.text()]).toEqual([200, '']);
  for (const name of ['content-length', 'content-type', 'etag', 'content-security-policy']) {
    expect(head.headers.get(name)).toBe(whole.headers.get(name));
  }
});

test('a picture is not compressed again', async () => {
  const picture = await get('/guide/screens/page.png');
  expect(picture.headers.get('content-type')).toBe('image/png');
  expect(picture.headers.get('content-encoding')).toBeNull();
  expect(picture.headers.get('content-length')).toBe('4000');
});

test('the guide takes no method that changes something', async () => {
  const answer = await fetch(`${gateway.url}/guide/`, { method: 'POST' });
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
});

test('a guide that is built anew replaces the one before', async () => {
  const next = join(folder, 'next');
  write('index.html', 'the new one', next);
  renameSync(site, join(folder, 'before'));
  expect((await get('/guide/')).status).toBe(200);
  renameSync(next, site);
  await until('the new one is there', async () =>
    (await (await get('/guide/')).text()).includes('the new one'),
  );
});

test('where the guide is not built its first page says how to build it', async () => {
  const bare = await startGateway(1);
  try {
    const answer = await fetch(`${bare.url}/guide/`);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('npm run guide');
    expect((await fetch(`${bare.url}/llms.txt`)).status).toBe(404);
    expect((await fetch(`${bare.url}/guide/guides/webhooks`)).status).toBe(404);
  } finally {
    await bare.stop();
  }
});

test('a file of the guide that is too large is not read', async () => {
  const large = join(folder, 'large');
  write('index.html', Buffer.alloc(9 * 1_024 * 1_024, 'a'), large);
  const full = await startGateway(1, { guideFolder: large });
  try {
    expect((await fetch(`${full.url}/guide/`)).status).toBe(500);
  } finally {
    await full.stop();
  }
});

test('a folder without a first page is a guide that is not built', async () => {
  const half = join(folder, 'half');
  write('guides/webhooks.html', 'webhooks', half);
  const begun = await startGateway(1, { guideFolder: half });
  try {
    expect(await (await fetch(`${begun.url}/guide/`)).text()).toContain('npm run guide');
    expect((await fetch(`${begun.url}/guide/guides/webhooks`)).status).toBe(404);
    write('index.html', 'the first page', half);
    await until('the guide is there', async () =>
      (await (await fetch(`${begun.url}/guide/`)).text()).includes('the first page'),
    );
  } finally {
    await begun.stop();
  }
});

test('a client that reads nothing of an answer is disconnected, a slow one gets all of it', async () => {
  const long = join(folder, 'long');
  const bytes = 7 * 1_024 * 1_024;
  write('index.html', 'index', long);
  write('llms-full.txt', Buffer.alloc(bytes, 'a'), long);
  // 4 s for these bytes.
  const limits = { readStallMs: 500, readMinBytesPerSecond: 2 * 1_024 * 1_024 };
  const started = await startGateway(1, { guideFolder: long, limits });
  const open = () => connect(started.port, '127.0.0.1');
  const [stopped, slow] = [open().pause(), open()];
  try {
    for (const socket of [stopped, slow]) {
      socket.write('GET /llms-full.txt HTTP/1.1\r\nhost: a\r\n\r\n');
    }
    let got = 0;
    slow.on('data', (part) => {
      got += part.length;
      slow.pause();
      setTimeout(() => slow.resume(), 10);
    });
    await until('the slow one has all', async () => got > bytes);
    // The other end says so once it is closed; an empty line is no request.
    const cut = once(stopped, 'error');
    const writing = setInterval(() => stopped.write('\r\n'), 100);
    await cut;
    clearInterval(writing);
  } finally {
    slow.destroy();
    stopped.destroy();
    await started.stop();
  }
}, 30_000);
