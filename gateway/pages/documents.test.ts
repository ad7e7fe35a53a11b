import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { publicEvents } from '#lib/events/contracts.ts';
import { engines } from '#lib/liquid/engine.ts';
import { variables } from '#lib/liquid/variables.ts';
import { startGateway, type TestGateway } from '../testing.ts';

import { undocumented } from './docs/liquid.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway(1);
});
afterAll(() => gateway.stop());

test.each([
  ['gzip', 'gzip'],
  ['identity', null],
])(
  'with accept-encoding %s /docs/scalar.js is the vendored release, unchanged',
  async (accepted, encoding) => {
    const headers = { 'accept-encoding': accepted };
    const response = await fetch(`${gateway.url}/docs/scalar.js`, { headers });
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

test('the first page leads everywhere, and shows the quickstart as the README does', async () => {
  const page = await (await fetch(gateway.url)).text();
  const paths = [...page.matchAll(/href="(\/[^"]*)"/g)].map(([, path]) => path);
  expect(paths).toContain('/docs');
  for (const path of paths) expect((await fetch(gateway.url + path)).status).toBe(200);
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
  expect(readme).toContain(await (await fetch(`${gateway.url}/quickstart/quickstart.sh`)).text());
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

test('the page that shows a mail runs one script of its own, and allows no other', async () => {
  const response = await fetch(`${gateway.url}/docs/preview`);
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'; script-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  const page = await response.text();
  expect(page.match(/<script[^>]*>/g)).toEqual(['<script src="/docs/preview.js">']);
  expect(page).not.toMatch(/ on[a-z]+=/);
  expect(page).toMatch(/<iframe [^>]*sandbox(="")? /);
  const script = await fetch(`${gateway.url}/docs/preview.js`);
  expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(await script.text()).not.toContain('innerHTML');
});

test('the page of limits shows numbers as people write them', async () => {
  const page = await (await fetch(`${gateway.url}/docs/limits`)).text();
  const cells = [...page.matchAll(/<td>([\d.,]+(?:e[+-]\d+)?)(?: [a-zA-Z]+)?<\/td>/g)];
  expect(cells.length).toBeGreaterThan(30);
  expect(
    cells.map(([, number]) => number).filter((number) => !/^[\d,]+$/.test(`${number}`)),
  ).toEqual([]);
});
