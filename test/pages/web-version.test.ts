import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { hasChromium, openBrowser } from '../contract/chromium.ts';
import { good, unique } from '../stack/given.ts';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import type { TestStack } from '../stack.ts';
import { givenMember, givenPublicList, mail } from './given.ts';
import { linkOf, untilMailed } from './inbox.ts';

/** A mail's page in a browser, through every service. */

const inChromium = hasChromium ? test : test.skip;

const stack = borrowedStack();
let own: TestStack;
let browser: Browser;
let listId: string;

beforeAll(async () => {
  if (!hasChromium) return;
  browser = await openBrowser();
  const token = await ownerToken(stack.settings);
  const { id } = await givenWorkspace(stack);
  const call: TestStack['call'] = (operation, body, options) =>
    stack.call(operation, body, { token, ...options });
  own = { ...stack, workspaceId: id, call };
  const settings = {
    message_content_days: 30,
    email_tracking_enabled: true,
    custom_endpoint_url: stack.settings.BASE_URL,
  };
  good(await call('workspaces.update', { id, name: 'New', settings }));
  listId = await givenPublicList(own, { name: 'News' });
}, 60_000);
afterAll(() => browser?.close());

const letter = `<mjml><mj-head><mj-preview>The bees are back</mj-preview></mj-head>
<mj-body background-color="#f3f4f6"><mj-section background-color="#ffffff" padding="24px"><mj-column>
<mj-text font-size="12px" align="right"><a href="{{ web_version_url }}">Read online</a></mj-text>
<mj-text font-size="28px">The bees are back, {{ contact.first_name }}</mj-text>
<mj-text font-size="16px" line-height="1.5">Spring came early this year, and so did they.</mj-text>
<mj-text font-size="12px"><a href="#end">To the end</a></mj-text>
<mj-button background-color="#1f6f43" href="https://honey.example/?a=1&amp;b=2">Order honey</mj-button>
<mj-text font-size="12px"><a href="{{ unsubscribe_url }}">Unsubscribe</a></mj-text>
<mj-raw><script>document.title = 'taken'; parent.document.title = 'taken';</script>
<meta http-equiv="refresh" content="0; url={{ workspace.base_url }}/docs">
<form action="{{ workspace.base_url }}/subscribe" method="post"><button>Send</button></form>
<a target="_top" href="{{ workspace.base_url }}/docs">Top</a><div id="end" style="height: 3000px"></div></mj-raw>
</mj-column></mj-section></mj-body></mjml>`;

/** Sends the letter to a new reader, and gives the mail. */
async function send() {
  const email = `${unique('reader')}@example.com`;
  await givenMember(own, { email, listIds: [listId], first_name: 'Zoë' });
  const templateId = unique('t');
  good(
    await own.call('templates.create', {
      ...{ workspace_id: own.workspaceId, id: templateId, name: 'Bees', channel: 'email' },
      category: 'marketing',
      email: { editor_mode: 'code', mjml_source: letter, subject: 'Bees' },
    }),
  );
  await mail(own, { listId, templateId });
  return { email, mailed: await untilMailed(stack, email, 1) };
}

const frameOf = (page: Page) => page.frameLocator('iframe');

inChromium(
  'a mail shows itself to whoever has its link: it counts nothing, runs nothing and acts for nobody',
  async () => {
    const { email, mailed } = await send();
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const asked: string[] = [];
    page.context().on('request', (request) => asked.push(request.url()));
    const link = linkOf(mailed, 'Read online');
    await page.goto(link);
    await frameOf(page).getByText('The bees are back, Zoë').waitFor();
    await frameOf(page).getByText('Unsubscribe').waitFor();
    expect(await frameOf(page).getByRole('link', { name: 'Unsubscribe' }).count()).toBe(0);
    const order = frameOf(page).getByRole('link', { name: 'Order honey' });
    expect(await order.getAttribute('href')).toBe('https://honey.example/?a=1&b=2');
    const [opened] = await Promise.all([page.waitForEvent('popup'), order.click()]);
    await opened.waitForURL(/honey\.example/, { waitUntil: 'commit' }).catch(() => undefined);
    expect(asked.some((url) => url.startsWith('https://honey.example/'))).toBe(true);
    await frameOf(page).getByRole('link', { name: 'To the end' }).click();
    await until('the frame is at its end', async () =>
      page.frames().some((frame) => frame.url() === 'about:srcdoc#end'),
    );
    await frameOf(page).getByRole('button', { name: 'Send' }).click();
    expect(await page.title()).toBe('Bees');
    expect(page.url()).toBe(link);
    const ours = asked.filter((url) => url.startsWith(own.settings.BASE_URL ?? ''));
    expect(new Set(ours)).toEqual(new Set([link]));
    const messages = good(
      await own.call('messages.list', undefined, {
        query: { workspace_id: own.workspaceId, contact_email: email },
      }),
    );
    expect(messages.messages[0]).toMatchObject({ status: 'sent' });
    expect(messages.messages[0].opened_at ?? null).toBeNull();
    good(await own.call('contacts.delete', { workspace_id: own.workspaceId, email }));
    await until('the mail is gone', async () => (await fetch(link)).status === 404);
  },
  120_000,
);
