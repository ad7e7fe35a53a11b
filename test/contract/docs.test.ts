import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startGateway, type TestGateway } from '../../gateway/testing.ts';
import { hasChromium, openBrowser, openDocs } from './chromium.ts';

const inChromium = hasChromium ? test : test.skip;

let gateway: TestGateway;
let browser: Browser | undefined;
beforeAll(async () => {
  gateway = await startGateway(1);
  if (hasChromium) browser = await openBrowser();
}, 30_000);
afterAll(async () => {
  await browser?.close();
  await gateway.stop();
});

inChromium(
  'the reference lists the operations, loads nothing from other origins, and logs no errors',
  async () => {
    const complaints: string[] = [];
    const asked: string[] = [];
    const context = await browser!.newContext();
    context.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    context.on('weberror', (error) => complaints.push(String(error.error())));
    context.on('request', (request) => asked.push(request.url()));
    const page = await context.newPage();
    await page.goto(`${gateway.url}/docs`);
    await page.getByRole('heading', { name: 'Postrider API' }).waitFor();
    await page.getByText('Resume broadcast').first().click();
    await page.getByRole('heading', { name: 'Resume broadcast' }).waitFor();
    expect(await page.getByText('/api/broadcasts.resume').count()).toBeGreaterThan(0);
    expect(asked.filter((url) => !url.startsWith(gateway.url) && !url.startsWith('data:'))).toEqual(
      [],
    );
    expect(complaints).toEqual([]);
  },
  60_000,
);

inChromium(
  'the reference fits a phone',
  async () => {
    const page = await openDocs(browser!, gateway.url, 390);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width).toBe(390);
  },
  60_000,
);
