import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { hasChromium, openBrowser } from '../contract/chromium.ts';
import { unique } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import {
  givenMember,
  givenNewsletter,
  givenOptInList,
  givenPublicList,
  mail,
  readContact,
} from './given.ts';
import { headerOf, linkOf, untilMailed } from './inbox.ts';
import { type Site, signUp, startSite } from './site.ts';

/** The journey of a subscriber in a browser, through every service; our pages have no scripts. */

const inChromium = hasChromium ? test : test.skip;

const stack = borrowedStack();
let browser: Browser;
let site: Site;
let scripted: BrowserContext;
let page: Page;
let complaints: string[];
let weekly: string;
let offers: string;
let templateId: string;

beforeAll(async () => {
  if (!hasChromium) return;
  browser = await openBrowser();
  weekly = await givenOptInList(stack);
  offers = await givenPublicList(stack, { name: 'Offers' });
  templateId = await givenNewsletter(stack);
  site = await startSite(stack, [weekly, offers]);
}, 60_000);
afterAll(async () => {
  if (!hasChromium) return;
  await browser?.close();
  site?.close();
});
beforeEach(async () => {
  if (!hasChromium) return;
  complaints = [];
  scripted = await newContext(true);
  page = await (await newContext(false)).newPage();
});

/** Collects the browser's errors, such as violations of a page's own policy. */
async function newContext(javaScriptEnabled: boolean): Promise<BrowserContext> {
  const context = await browser.newContext({ javaScriptEnabled, locale: 'de-DE' });
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  return context;
}

const somebody = (): string => `${unique('reader')}@example.com`;
const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
const language = () => page.locator('html').getAttribute('lang');
const statusOf = async (email: string, listId: string) =>
  (await readContact(stack, email)).statuses.get(listId);

/** Opens the link of the newest mail, of that many. */
async function openLink(email: string, count: number, text: string): Promise<void> {
  await page.goto(linkOf(await untilMailed(stack, email, count), text));
}

inChromium(
  'a form on another site causes a confirmation mail, and only the button behind its link confirms',
  async () => {
    const email = somebody();
    expect(await signUp(await scripted.newPage(), site, email)).toBe('Look into your inbox');
    await openLink(email, 1, 'Confirm');
    await heading('Confirmez votre inscription');
    expect(await language()).toBe('fr');
    await page.getByText('« The Weekly »').waitFor();
    expect(await statusOf(email, weekly)).toBe('pending');
    expect(await statusOf(email, offers)).toBe('active');

    await press('Oui, je m’inscris');
    await heading('Vous êtes inscrit');
    expect(await statusOf(email, weekly)).toBe('active');
    await page.reload();
    await heading('Vous êtes inscrit');
    await openLink(email, 1, 'Confirm');
    await heading('Vous êtes inscrit');
    expect(await statusOf(email, weekly)).toBe('active');
    expect(complaints).toEqual([]);
  },
  60_000,
);

inChromium(
  'the preference page of a mail leaves a list and changes language and time zone, and speaks the new language at once',
  async () => {
    const email = somebody();
    await givenMember(stack, { email, language: 'en', listIds: [weekly, offers] });
    await mail(stack, { listId: weekly, templateId });
    await openLink(email, 1, 'Preferences');
    await heading('Your email preferences');
    expect(await language()).toBe('en');
    const lists = page.getByRole('group', { name: 'Which emails do you want to receive?' });
    expect(await lists.getByRole('checkbox', { name: 'The Weekly' }).isChecked()).toBe(true);
    await lists.getByRole('checkbox', { name: 'Offers' }).uncheck();
    await page.getByRole('combobox', { name: 'Language' }).selectOption('日本語');
    await page.getByRole('combobox', { name: 'Time zone' }).selectOption('Asia/Tokyo');
    expect(await statusOf(email, offers)).toBe('active');

    await press('Save');
    await page.getByRole('status').filter({ hasText: '変更を保存しました。' }).waitFor();
    expect(await language()).toBe('ja');
    const contact = await readContact(stack, email);
    expect(contact).toMatchObject({ language: 'ja', timezone: 'Asia/Tokyo' });
    expect(contact.statuses.get(offers)).toBe('unsubscribed');
    expect(contact.statuses.get(weekly)).toBe('active');
    expect(complaints).toEqual([]);
  },
  60_000,
);

inChromium(
  'the unsubscribe link asks first, and leads to the preferences',
  async () => {
    const email = somebody();
    await givenMember(stack, { email, listIds: [weekly] });
    await mail(stack, { listId: weekly, templateId });
    await openLink(email, 1, 'Unsubscribe');
    await heading('Unsubscribe');
    expect(await statusOf(email, weekly)).toBe('active');
    await press('Unsubscribe');
    await heading('You are unsubscribed');
    expect(await statusOf(email, weekly)).toBe('unsubscribed');
    await page.getByRole('link', { name: 'Change all my email preferences' }).click();
    await heading('Your email preferences');
    expect(await page.getByRole('checkbox', { name: 'The Weekly' }).isChecked()).toBe(false);
    expect(complaints).toEqual([]);
  },
  60_000,
);

/**
 * Fills in a form, and presses the button behind the link of the mail that comes, the reader's
 * `count`th.
 */
async function signUpAndConfirm(form: Site, email: string, count: number): Promise<void> {
  expect(await signUp(await scripted.newPage(), form, email)).toBe('Look into your inbox');
  await openLink(email, count, 'Confirm');
  await press('Oui, je m’inscris');
  await heading('Vous êtes inscrit');
}

/**
 * As mail programs post it: RFC 8058 lets them choose between two kinds of forms, and none has a
 * session.
 */
const formData = new FormData();
formData.set('List-Unsubscribe', 'One-Click');

inChromium.each([
  ['application/x-www-form-urlencoded', new URLSearchParams('List-Unsubscribe=One-Click')],
  ['multipart/form-data', formData],
])(
  'one click by %s ends the mails, until the reader comes back by the form and confirms',
  async (_type, body) => {
    const [email, other, listId] = [somebody(), somebody(), await givenOptInList(stack)];
    const form = await startSite(stack, [listId]);
    await givenMember(stack, { email: other, listIds: [listId] });
    await signUpAndConfirm(form, email, 1);
    expect(await mail(stack, { listId, templateId })).toBe(2);

    const first = await untilMailed(stack, email, 2);
    expect(headerOf(first, 'list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    const [, url = ''] = /<(http[^>]+)>/.exec(headerOf(first, 'list-unsubscribe')) ?? [];
    const answer = await fetch(url, { method: 'POST', body, redirect: 'error' });
    expect(answer.status).toBe(200);
    expect(await statusOf(email, listId)).toBe('unsubscribed');
    expect(await mail(stack, { listId, templateId })).toBe(1);
    expect(await stack.sink.received(email)).toMatchObject({ count: 2 });

    await signUpAndConfirm(form, email, 3);
    form.close();
    expect(await mail(stack, { listId, templateId })).toBe(2);
    await untilMailed(stack, email, 4);
    expect(complaints).toEqual([]);
  },
  90_000,
);
