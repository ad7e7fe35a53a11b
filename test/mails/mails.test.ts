import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { simpleParser } from 'mailparser';
import type { Browser } from 'playwright-core';
import { createLinkReader, linkKeys } from '#lib/keys/signed-link.ts';
import { createTrackingTokens } from '#lib/keys/tracking-token.ts';
import type { LiquidScope } from '#lib/liquid/engine.ts';
import { MessageBuffer } from '../../services/messages/mime/buffer.ts';
import { writeMail } from '../../services/messages/mime/write.ts';
import type { Envelope, MailRecipient } from '../../services/messages/render/compose.ts';
import { compileMessage } from '../../services/messages/render/program.ts';
import { RenderThread } from '../../services/messages/render/thread.ts';
import { createCompiler } from '../../services/templates/compile/compiler.ts';
import { mjmlSource } from '../../services/templates/compile/source.ts';
import { warmUp } from '../../services/templates/test/given.ts';
import { hasChromium, openBrowser } from '../contract/chromium.ts';
import { keyring } from '../setup/service.ts';
import { type GivenMail, givenMails } from './given.ts';

const inChromium = hasChromium ? test : test.skip;

const compiler = createCompiler();
const thread = new RenderThread();
let browser: Browser | undefined;
beforeAll(async () => {
  if (hasChromium) browser = await openBrowser();
  await warmUp(compiler);
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await Promise.all([compiler.close(), thread.close()]);
});

const messageId = '0197f3c0-0000-7000-8000-000000000001';
const token = createTrackingTokens(keyring)('w1', messageId, Buffer.alloc(8));
const base = 'https://mail.example';
const envelope: Envelope = {
  from: { email: 'shop@sender.example', name: 'Größe & Co' },
  replyTo: '',
  list: { id: 'weekly', name: 'Weekly' },
  canBeLeft: true,
  feedbackId: ['b1'],
  values: { workspace: { base_url: base, website_url: '' } },
  utm: { source: 'mails' },
  tracking: { opens: `${base}/t/w1/`, clicks: `${base}/r/w1/` },
};

/** The bytes of a mail, made as templates and messages make it. */
async function sent({ mjml, subject, data }: GivenMail) {
  const head = { title: subject, preview: '', language: 'en' };
  const body = await compiler.compile(mjmlSource(mjml), head, data);
  const { contact = {}, ...feeds } = data;
  const recipient: MailRecipient = {
    messageId,
    email: 'ann@example.com',
    contact: contact as LiquidScope,
    feeds,
    urls: {
      unsubscribe: `${base}/u/w1/x`,
      preferences: `${base}/p/w1/x`,
      confirm: `${base}/c/w1/x`,
    },
    trackingToken: token,
  };
  const content = { subject, html: body.html, mjml: body.makesBlocks ? body.mjml : '', text: '' };
  const program = compileMessage(content, envelope, linkKeys(keyring)('w1'));
  const prepared = program.slow
    ? program.compose(recipient, await thread.render(program.slow, program.scope(recipient)))
    : program.prepare(recipient);
  const buffer = new MessageBuffer();
  writeMail(buffer, prepared);
  return { raw: Buffer.from(buffer.written()), program, body };
}

const byPython = `
import email, json, sys
from email import policy
m = email.message_from_binary_file(sys.stdin.buffer, policy=policy.default)
part = lambda kind: m.get_body((kind,)).get_content()
print(json.dumps([m['subject'], m['from'].addresses[0].display_name, part('plain'), part('html')]))
`;

test('there are at least ten', () => expect(givenMails.length).toBeGreaterThanOrEqual(10));

test.each(givenMails)(
  '$name compiles once, every link is tracked, and two parsers read it alike',
  async (mail) => {
    const { raw, program, body } = await sent(mail);
    expect(body.makesBlocks).toBe(false);
    const parsed = await simpleParser(raw);
    const [subject, from, text, html]: string[] = JSON.parse(
      execFileSync('python3', ['-c', byPython], { input: raw, encoding: 'utf8' }),
    );
    expect([subject, from]).toEqual([parsed.subject, 'Größe & Co']);
    expect(text?.trim()).toBe(parsed.text?.trim());
    expect(html?.trim()).toBe((parsed.html || '').trim());
    expect(`${text}${html}`).not.toMatch(/\{\{|\{%|undefined|\[object/);
    const hrefs = [...(html ?? '').matchAll(/<a\b[^>]*?href="([^"]*)"/g)].map(
      ([, url = '']) => url,
    );
    const targets = hrefs.map((url) => {
      const [number = '', signed] = url.split(`${base}/r/w1/${token}/`)[1]?.split('/') ?? [];
      if (number === '') return url;
      if (signed === undefined) return program.links[Number(number)];
      return createLinkReader(keyring)('w1', { token, number: Number(number), signed });
    });
    const isOwn = (url = '') => /^#\d|^https:\/\/mail\.example\/[up]\//.test(url);
    expect(targets.filter((url) => !isOwn(url) && !/[?&]utm_source=mails/.test(url ?? ''))).toEqual(
      [],
    );
    expect(hrefs.filter((url) => !isOwn(url) && !url.startsWith(`${base}/r/`))).toEqual([]);
    expect(html).toContain(`src="${base}/t/w1/${token}"`);
  },
);

const picture = (color: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400"><rect width="600" height="400" fill="${color}"/></svg>`;

inChromium.each(givenMails)(
  '$name fits 390 and 1280 px',
  async (mail) => {
    const { html } = await simpleParser((await sent(mail)).raw);
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
