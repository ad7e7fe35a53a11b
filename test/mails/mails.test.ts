import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { simpleParser } from 'mailparser';
import type { Browser } from 'playwright-core';
import { hasChromium, openBrowser } from '../contract/chromium.ts';
import { givenMails } from './given.ts';
import { base, tracking, trackingToken } from './mailing.ts';
import { openPaths, type Paths } from './paths.ts';
import { readAlike } from './readers.ts';
import { tokensOf } from './tokens.ts';

const inChromium = hasChromium ? test : test.skip;

let paths: Paths;
let browser: Browser | undefined;
beforeAll(async () => {
  if (hasChromium) browser = await openBrowser();
  paths = await openPaths();
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await paths.close();
});

test('there are at least ten', () => expect(givenMails.length).toBeGreaterThanOrEqual(10));

const hrefsOf = (html: string) =>
  tokensOf(html)
    .filter(({ name }) => name === 'a')
    .flatMap(({ attributes }) => attributes.filter(({ name }) => name === 'href'))
    .map(({ value }) => value);
/** Links that nobody counts. */
const isOwn = (url: string) => /^#\d/.test(url) || /^\/[up]\//.test(url.slice(base.length));

test.each(givenMails)('every link of $name is tracked and has its UTM values', async (mail) => {
  const { raw, html } = await paths.sentBy(mail);
  const { html: tracked } = await simpleParser(raw);
  expect(html).not.toMatch(/\{\{|\{%|undefined|\[object/);
  const targets = hrefsOf(html).filter((url) => !isOwn(url));
  expect(targets.filter((url) => !/[?&]utm_source=mails/.test(url))).toEqual([]);
  const links = hrefsOf(tracked || '').filter((url) => !isOwn(url));
  expect(links.filter((url) => !url.startsWith(tracking.clicks))).toEqual([]);
  expect(tracked).toContain(`src="${tracking.opens}${trackingToken}"`);
});

test('independent parsers read them alike', async () => {
  expect(await readAlike(paths, givenMails, () => {})).toEqual([]);
});

const picture = (color: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400"><rect width="600" height="400" fill="${color}"/></svg>`;

inChromium.each(givenMails)(
  '$name fits 390 and 1280 px',
  async (mail) => {
    const { html } = await simpleParser((await paths.sentBy(mail)).raw);
    const page = await browser!.newPage();
    await page.route('**/*', (route) =>
      route.request().resourceType() === 'image'
        ? route.fulfill({ contentType: 'image/svg+xml', body: picture('#9db4ab') })
        : route.abort(),
    );
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await page.setContent(html || '');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      if (process.env.SCREENS) {
        const path = `${process.env.SCREENS}/mail-${mail.name}-${width}.png`;
        await page.screenshot({ path, fullPage: true });
      }
    }
    await page.close();
  },
  60_000,
);
