import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { hasChromium, openBrowser } from '../contract/chromium.ts';
import { act, givenTest, good, sendNow, untilStatus } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import { untilMailed } from './inbox.ts';

/**
 * The page of a broadcast, from the API's link to what a browser shows of real mails that were
 * read.
 */

const inChromium = hasChromium ? test : test.skip;
const agent = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
};

const stack = borrowedStack();
let browser: Browser | undefined;
let id: string;
let pageUrl: string;

beforeAll(async () => {
  if (hasChromium) browser = await openBrowser();
  const given = await givenTest(stack, 60);
  id = given.id;
  await sendNow(stack, id);
  await untilStatus(stack, id, 'test_completed');
  await readSome(given.emails, 8);
  await until('the opens are counted', async () => (await results()).opens >= 8);
}, 120_000);
afterAll(() => browser?.close());

const query = () => ({ workspace_id: stack.workspaceId, id });
const read = async () =>
  good(await stack.call('broadcasts.get', undefined, { query: query() })).broadcast;

async function results() {
  const body = good(await stack.call('broadcasts.getTestResults', undefined, { query: query() }));
  type Result = Record<'recipients' | 'opens' | 'clicks' | 'open_rate' | 'click_rate', number>;
  const arms: Result[] = Object.values(body.variation_results);
  return { arms, opens: arms.reduce((sum, { opens }) => sum + opens, 0) };
}

/** Opens the mails of the first people who got one, and clicks in every other. */
async function readSome(emails: readonly string[], count: number): Promise<void> {
  const got = new Set(stack.mails().map(({ email }) => email));
  const readers = emails.filter((email) => got.has(email)).slice(0, count);
  expect(readers).toHaveLength(count);
  for (const [index, email] of readers.entries()) {
    const { html = '' } = await untilMailed(stack, email, 1);
    const [pixel = ''] = /https?:[^"]+\/t\/[^"]+/.exec(html) ?? [];
    const [link = ''] = /https?:[^"]+\/r\/[^"]+/.exec(html) ?? [];
    await fetch(pixel, { headers: agent });
    if (index % 2 === 0) await fetch(link, { headers: agent, redirect: 'manual' });
  }
}

const readable = (page: string) =>
  page
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

test('the page shows the numbers of the API, and no address', async () => {
  const broadcast = await read();
  pageUrl = broadcast.page_url;
  expect(pageUrl).toMatch(`${stack.settings.BASE_URL}/broadcasts/${id}?token=`);
  const { arms } = await results();
  const response = await fetch(pageUrl);
  expect(response.status).toBe(200);
  expect(response.headers.get('refresh')).toBe('10');
  const page = await response.text();
  const text = readable(page);
  expect(text).toContain(`Recipients ${broadcast.enqueued_count} Sent ${broadcast.sent_count}`);
  expect(text).toContain('30 sent and 8 opened');
  const percent = (rate: number) => `${Math.round(rate * 1_000) / 10}%`;
  for (const arm of arms) {
    expect(text).toContain(` ${arm.recipients} ${arm.opens} ${percent(arm.open_rate)} (`);
    expect(text).toContain(`) ${arm.clicks} ${percent(arm.click_rate)} (`);
  }
  expect(text).toContain('Not enough to tell.');
  expect(text).toContain('https://example.com/news 4');
  expect(page).not.toContain('@example.com');
});

test('no token of a link is in a log', () => {
  const token = new URL(pageUrl).searchParams.get('token') ?? '';
  expect(token).not.toBe('');
  const folder = join(stack.folder, 'logs');
  for (const name of readdirSync(folder)) {
    expect(readFileSync(join(folder, name), 'utf8')).not.toContain(token);
  }
});

test('a link to another broadcast, and one with a changed token, are not valid', async () => {
  const other = pageUrl.replace(id, 'b'.repeat(32));
  const changed = `${pageUrl.slice(0, -2)}${pageUrl.endsWith('AA') ? 'BB' : 'AA'}`;
  for (const url of [other, changed]) expect((await fetch(url)).status).toBe(404);
});

inChromium.each([390, 1280])(
  'a browser %s pixels wide shows one plot of each kind, and complains of nothing',
  async (width) => {
    const context = await browser!.newContext({
      javaScriptEnabled: false,
      viewport: { width, height: 900 },
    });
    const complaints: string[] = [];
    context.on('console', (message) => complaints.push(message.text()));
    const page = await context.newPage();
    await page.goto(pageUrl);
    await page.getByRole('heading', { level: 1, name: 'Spring newsletter' }).waitFor();
    expect(await page.getByRole('img', { name: 'Sent and opened over time' }).count()).toBe(1);
    expect(await page.getByRole('img', { name: 'Click rate of each variation' }).count()).toBe(1);
    const size = await page.locator('html').evaluate(({ scrollWidth }) => scrollWidth);
    expect(size).toBeLessThanOrEqual(width);
    expect(complaints).toEqual([]);
    await context.close();
  },
);

test('the page of a deleted broadcast is gone', async () => {
  good(await act(stack, 'cancel', id));
  await until('it can be deleted', async () => (await act(stack, 'delete', id)).status === 200);
  await until('the page is gone', async () => (await fetch(pageUrl)).status === 404);
});
