import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { variables as processVariables } from '#gen/variables.ts';
import { publicEvents } from '#lib/events/contracts.ts';
import { engines } from '#lib/liquid/engine.ts';
import { variables } from '#lib/liquid/variables.ts';
import { startGateway, type TestGateway } from '../testing.ts';
import { liquidPage, undocumented } from './liquid.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway(1);
});
afterAll(() => gateway.stop());

/** The scripts of a page, in their order. */
async function scriptsOf(path: string): Promise<string[]> {
  const page = await (await fetch(gateway.url + path)).text();
  return [...page.matchAll(/<script src="([^"]+)"><\/script>/g)].map(([, source = '']) => source);
}

test.each([
  ['gzip', 'gzip'],
  ['identity', null],
])(
  'with accept-encoding %s the script of /docs is the vendored release, unchanged',
  async (accepted, encoding) => {
    const headers = { 'accept-encoding': accepted };
    const [path = ''] = await scriptsOf('/docs');
    expect(path).toMatch(/^\/static\/scalar\.[0-9a-f]{16}\.js$/);
    const response = await fetch(`${gateway.url}${path}`, { headers });
    expect(response.headers.get('content-encoding')).toBe(encoding);
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    const script = Buffer.from(await response.arrayBuffer());
    expect(script.subarray(0, 400).toString()).toContain('@scalar/api-reference 1.60.0');
    expect(createHash('sha256').update(script).digest('hex')).toBe(
      '8a48f50399e2faf01a8ac48e02d431abddd2ffe7f32ca90691e66003f21c64c8',
    );
  },
);

test('the page of Liquid has every variable, filter and tag that a mail may use', async () => {
  const response = await fetch(`${gateway.url}/docs/liquid`);
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  const page = await response.text();
  expect(undocumented()).toEqual([]);
  for (const name of Object.keys(engines.html.filters))
    expect(page).toContain(`<code>${name}</code>`);
  for (const { name } of variables) expect(page).toContain(`<code>${name}</code>`);
  expect(page).toContain('<code>sunday</code>');
  expect(page).toContain('<code>22 November 2026, 09:05</code>');
  expect(page.replace(/<td><code>\d*<\/code><\/td>/g, '')).not.toMatch(/<code><\/code>/);
});

test('the page of variables has each with its default, and what it may be', async () => {
  const page = await (await fetch(`${gateway.url}/docs/variables`)).text();
  for (const { variables } of processVariables)
    for (const { name } of variables)
      expect(page).toContain(`<code>${name.replace('<NAME>', '&lt;NAME&gt;')}</code>`);
  expect(page).toContain('<code>SECRET_KEY</code> or <code>SECRET_KEY_FILE</code>');
  expect(page).toMatch(/<code>JOB_CONNECTIONS<\/code><\/td><td><code>6<\/code>.*2 to 1,000\.</);
  expect(page).not.toContain('`');
});

test('the page of Liquid is drawn however slow the machine is', () => {
  const { now } = performance;
  let time = now.call(performance);
  performance.now = () => {
    time += 1_000;
    return time;
  };
  try {
    expect(liquidPage().text).toContain('<code>sunday</code>');
  } finally {
    performance.now = now;
  }
});

test('the first page leads everywhere, and shows the quickstart as docs/guides/first-mail.md does', async () => {
  const page = await (await fetch(gateway.url)).text();
  const paths = [...page.matchAll(/href="(\/[^"]*)"/g)].map(([, path]) => path);
  expect(paths).toContain('/docs');
  for (const path of paths) expect((await fetch(gateway.url + path)).status).toBe(200);
  const file = join(import.meta.dirname, '../../docs/guides/first-mail.md');
  expect(readFileSync(file, 'utf8')).toContain(
    await (await fetch(`${gateway.url}/quickstart/quickstart.sh`)).text(),
  );
});

test('the pages of errors and events explain every code and type', async () => {
  const errors = await (await fetch(`${gateway.url}/docs/errors`)).text();
  const sources = globSync(join(import.meta.dirname, '../**/*.ts')).map((file) =>
    readFileSync(file, 'utf8'),
  );
  const refusals = sources.flatMap((text) => [...text.matchAll(/new Refusal\(\s*\d+,\s*'(\w+)'/g)]);
  expect(refusals.length).toBeGreaterThan(5);
  for (const [, name = ''] of refusals) expect(errors).toContain(`<code>${name}</code>`);
  const events = await (await fetch(`${gateway.url}/docs/events`)).text();
  for (const { type } of publicEvents) {
    expect(events).toContain(`<h2 id="${type}"><code>${type}</code></h2>`);
  }
  expect(events).toContain('<code>contact.custom_json_5</code>');
  for (const page of [errors, events]) {
    expect(page).toContain('<td>');
    expect(page).not.toContain('<td></td>');
  }
});

test('pages without a script allow none, and no style but their own', async () => {
  for (const path of ['/', '/docs/liquid', '/docs/errors', '/docs/events', '/docs/limits']) {
    const page = await fetch(gateway.url + path);
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(await page.text()) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(page.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
    );
  }
});

test('the page that shows a mail runs one script of its own, and allows no other', async () => {
  const response = await fetch(`${gateway.url}/docs/preview`);
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'; script-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  const page = await response.text();
  const [path = ''] = await scriptsOf('/docs/preview');
  expect(path).toMatch(/^\/static\/preview\.[0-9a-f]{16}\.js$/);
  expect(page.match(/<script[^>]*>/g)).toEqual([`<script src="${path}">`]);
  expect(page).not.toMatch(/ on[a-z]+=/);
  expect(page).toMatch(/<iframe [^>]*sandbox(="")? /);
  const script = await fetch(`${gateway.url}${path}`);
  expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(await script.text()).not.toContain('innerHTML');
});

test('a script is named by its content, and kept for good; pages are asked for again', async () => {
  const paths = [...(await scriptsOf('/docs')), ...(await scriptsOf('/docs/preview'))];
  expect(paths).toHaveLength(3);
  for (const path of paths) {
    const script = await fetch(gateway.url + path);
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const content = Buffer.from(await script.arrayBuffer());
    const hash = createHash('sha256').update(content).digest('hex');
    expect(path.split('.').at(-2)).toBe(hash.slice(0, 16));
  }
  expect((await fetch(`${gateway.url}/docs`)).headers.get('cache-control')).toBe(
    'public, max-age=300',
  );
  const unknown = await fetch(`${gateway.url}/static/preview.0000000000000000.js`);
  expect(unknown.status).toBe(404);
});

test('the page of limits shows numbers as people write them', async () => {
  const page = await (await fetch(`${gateway.url}/docs/limits`)).text();
  const cells = [...page.matchAll(/<td>([\d.,]+(?:e[+-]\d+)?)(?: [a-zA-Z]+)?<\/td>/g)];
  expect(cells.length).toBeGreaterThan(30);
  expect(
    cells.map(([, number]) => number).filter((number) => !/^[\d,]+$/.test(`${number}`)),
  ).toEqual([]);
});
