import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTransport } from 'nodemailer';
import type { Browser } from 'playwright-core';
import { hasChromium, openBrowser } from '../../../test/contract/chromium.ts';
import { freePort } from '../ports.ts';
import { Callbacks } from './callbacks.ts';
import { InboxMailbox } from './mailbox.ts';
import { startSmtp } from './smtp.ts';
import { startWeb } from './web.ts';

const inChromium = hasChromium ? test : test.skip;

const host = '127.0.0.1';
const folder = mkdtempSync(join(tmpdir(), 'postrider-mails-'));
const stops: (() => Promise<unknown>)[] = [];
let base = '';
let browser: Browser | undefined;

const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const evilName = 'größe "\r\nX-Evil: 1/../a;b\'.html';

beforeAll(async () => {
  const box = await InboxMailbox.open(folder, { mailsMax: 100, bytesMax: 1e8 });
  const smtpPort = await freePort();
  const smtp = await startSmtp(box, { host, port: smtpPort });
  const port = await freePort();
  const callbacks = new Callbacks({ countMax: 10, bytesMax: 1e6 });
  const web = await startWeb({ box, callbacks }, { host, port });
  base = `http://${host}:${port}`;
  stops.push(smtp.stop, web.stop, () => box.close());
  if (hasChromium) browser = await openBrowser();
  await createTransport({ host, port: smtpPort, ignoreTLS: true }).sendMail({
    from: 'Shop <shop@example.com>',
    to: 'ann@example.com',
    cc: 'Bob Böll <bob@example.com>',
    bcc: 'hidden@example.com',
    subject: 'Your order',
    text: 'Thank you',
    html: '<div style="width:600px">wide</div><img id="logo" alt="Logo" src="cid:logo@example.com"><script>parent.document.title = "x"</script>',
    attachments: [
      { filename: 'logo.gif', content: pixel, cid: 'logo@example.com' },
      { filename: evilName, content: '<script>alert(1)</script>', contentType: 'text/html' },
    ],
  });
}, 30_000);
afterAll(async () => {
  await browser?.close();
  for (const stop of stops) await stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a mail is shown with its recipients, those in copy and its attachments with their sizes', async () => {
  const mail = (await (await fetch(`${base}/api/mails/1`)).json()) as Record<string, string[]>;
  expect(mail).toMatchObject({
    to: 'ann@example.com, bob@example.com, hidden@example.com',
    cc: '"Bob Böll" <bob@example.com>',
    text: expect.stringContaining('Thank you'),
  });
  expect(mail.attachments).toMatchObject([
    { name: 'logo.gif', type: 'image/gif', size_bytes: pixel.length, is_inline: true },
    { type: 'text/html', size_bytes: 25, is_inline: false },
  ]);
  expect(mail.headers?.join('\n')).not.toContain('hidden@example.com');
  const page = await (await fetch(`${base}/mails/1`)).text();
  expect(page).toContain('&quot;Bob Böll&quot; &lt;bob@example.com&gt;');
  expect(page).toContain('text/html, 25 bytes');
});

test('an attachment is saved and never shown, whatever it is named', async () => {
  const answer = await fetch(`${base}/mails/1/attachments/1`);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'application/octet-stream',
    'x-content-type-options': 'nosniff',
    'content-security-policy':
      "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    'content-disposition': expect.stringMatching(
      /^attachment; filename="[\w. -]+"; filename\*=UTF-8''[\w.%~-]+$/,
    ),
  });
  expect(answer.headers.get('x-evil')).toBeNull();
  expect(await answer.text()).toBe('<script>alert(1)</script>');
  const logo = await fetch(`${base}/mails/1/attachments/0`);
  expect(Buffer.from(await logo.arrayBuffer())).toEqual(pixel);
  for (const path of ['/mails/1/attachments/2', '/mails/9/attachments/0', '/mails/1/attachments/x'])
    expect((await fetch(base + path)).status).toBe(404);
});

inChromium.each([
  ['phone', 390],
  ['desktop', 1280],
])(
  'the %s view is %i px wide, shows inline images and runs no script',
  async (view, mailWidth) => {
    const page = await browser!.newPage({ viewport: { width: 390, height: 900 } });
    await page.goto(`${base}/mails/1?view=${view}`);
    const mail = page.frameLocator('iframe');
    await mail.getByText('wide').waitFor();
    const frame = page.frames().find((each) => each.url().endsWith('/html'));
    expect(await frame?.evaluate('innerWidth')).toBe(mailWidth);
    expect(await frame?.evaluate("document.getElementById('logo').naturalWidth")).toBe(1);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await page.title()).toBe('Your order · Postrider');
    if (process.env.SCREENS) {
      await page.screenshot({ path: `${process.env.SCREENS}/inbox-${view}-390.png` });
      await page.setViewportSize({ width: 1400, height: 900 });
      await page.screenshot({ path: `${process.env.SCREENS}/inbox-${view}-1400.png` });
    }
    await page.close();
  },
  60_000,
);
