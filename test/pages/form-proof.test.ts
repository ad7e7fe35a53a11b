import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { hasChromium, openBrowser } from '../contract/chromium.ts';
import { good, unique } from '../stack/given.ts';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';

/** The forms of the guide in a browser, for a workspace that asks for a proof of work. */

const inChromium = hasChromium ? test : test.skip;

const stack = borrowedStack();
const guide = join(import.meta.dirname, '../../docs/guides/forms-and-pages.md');
const listId = 'newsletter';
let browser: Browser;
let context: BrowserContext;
let token: string;
let workspaceId: string;
let complaints: string[];

beforeAll(async () => {
  if (!hasChromium) return;
  browser = await openBrowser();
  token = await ownerToken(stack.settings);
  ({ id: workspaceId } = await givenWorkspace(stack));
  const list = { id: listId, name: 'Newsletter', is_public: true };
  await call('lists.create', { workspace_id: workspaceId, ...list });
  const settings = { form_proof_of_work: true };
  await call('workspaces.update', { id: workspaceId, name: 'Acme', settings });
}, 60_000);
afterAll(() => browser?.close());
beforeEach(() => {
  complaints = [];
});
afterEach(() => context?.close());

const call = async (operation: string, body: object) =>
  good(await stack.call(operation, body, { token }));

/** A page of another site with the HTML, and the answers of the stack to its requests. */
async function openForm(html: string, options: { javaScriptEnabled?: boolean } = {}) {
  const page = html
    .replaceAll('https://postrider.example.com', stack.settings.BASE_URL ?? '')
    .replaceAll('acme', workspaceId);
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(`<!doctype html><html lang="fr"><link rel="icon" href="data:,">${page}</html>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context = await browser.newContext({ ...options, locale: 'fr-FR' });
  context.on('close', () => server.close());
  context.on('console', (message) => {
    // The status of a page is no complaint about its content.
    const isStatus = message.text().includes('status of 400');
    if (['error', 'warning'].includes(message.type()) && !isStatus) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  const opened = await context.newPage();
  await opened.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return opened;
}

const [withWidget = '', byScript = ''] = [
  ...readFileSync(guide, 'utf8').matchAll(/```html\n([\s\S]*?)```/g),
].map(([, block = '']) => block);
const plain = withWidget.replace(/<script.*\n/, '').replace(/ *<altcha-widget.*\n/, '');

const somebody = () => `${unique('reader')}@example.com`;

async function fillIn(page: Page, email: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Email' }).fill(email);
  await page.getByRole('button', { name: 'Sign up' }).click();
}

const heading = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name }).waitFor();

async function statusOf(email: string) {
  const query = { workspace_id: workspaceId, email, list_id: listId };
  const { contact_list } = (await stack.call('contactLists.getByIDs', undefined, { query, token }))
    .body;
  return contact_list?.status;
}

inChromium(
  'a plain form is answered by a page whose button does the work and sends the form',
  async () => {
    const email = somebody();
    const page = await openForm(plain);
    await fillIn(page, email);
    await heading(page, 'Encore une étape');
    expect(await statusOf(email)).toBeUndefined();
    await page.getByRole('button', { name: 'S’inscrire' }).click();
    await heading(page, 'Merci');
    expect(await statusOf(email)).toBe('active');
    expect(complaints).toEqual([]);
  },
);

inChromium('the plain form of the guide with the widget needs no further page', async () => {
  const email = somebody();
  const page = await openForm(withWidget);
  await fillIn(page, email);
  await heading(page, 'Merci');
  expect(await statusOf(email)).toBe('active');
  expect(complaints).toEqual([]);
});

inChromium('the form of the guide that posts JSON takes one address after the other', async () => {
  const emails = [somebody(), somebody()];
  const page = await openForm(byScript);
  for (const email of emails) {
    await page.getByRole('status').evaluate((status) => {
      status.textContent = '';
    });
    await fillIn(page, email);
    await page.getByRole('status').filter({ hasText: 'Look into your inbox' }).waitFor();
    expect(await statusOf(email)).toBe('active');
  }
  expect(complaints).toEqual([]);
});

inChromium(
  'a browser without scripts is told that the form needs them, and cannot pass',
  async () => {
    const email = somebody();
    const page = await openForm(plain, { javaScriptEnabled: false });
    await fillIn(page, email);
    await page.getByText('Cette étape nécessite JavaScript.').waitFor();
    await page.getByRole('button', { name: 'S’inscrire' }).click();
    await heading(page, 'Encore une étape');
    expect(await statusOf(email)).toBeUndefined();
  },
);
