import { afterAll, expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { createLinkReader, linkKeys } from '#lib/keys/signed-link.ts';
import { createTrackingTokens } from '#lib/keys/tracking-token.ts';
import { keyring } from '../../../test/setup/service.ts';
import { MessageBuffer } from '../mime/buffer.ts';
import { writeMail } from '../mime/write.ts';
import { mailOf } from '../test/mail-of.ts';
import type { Envelope, MailRecipient } from './compose.ts';
import { compileMessage, type MailContent, type Program } from './program.ts';
import { RenderThread } from './thread.ts';

const thread = new RenderThread();
afterAll(() => thread.close());

const messageId = '0197f3c0-0000-7000-8000-000000000001';
const token = createTrackingTokens(keyring)('w1', messageId, Buffer.alloc(8));
const envelope: Envelope = {
  from: { email: 'news@sender.example', name: 'The News' },
  replyTo: '',
  feedbackId: [],
  values: { workspace: { base_url: 'https://t.example', website_url: '' } },
  utm: { source: 'n l' },
  tracking: { opens: 'https://t.example/t/w1/', clicks: 'https://t.example/r/w1/' },
};
const recipient: MailRecipient = {
  messageId,
  email: 'ann@example.com',
  contact: { external_id: 'A&1', custom_string_1: 'https://own.example/"p"', last_name: 'Lee Ann' },
  feeds: {
    recipient_feed: { items: [{ url: 'https://i.example/1' }, { url: 'https://i.example/2' }] },
  },
  urls: {
    unsubscribe: 'https://t.example/u/w1/x',
    preferences: 'https://t.example/p/w1/x',
    confirm: 'https://t.example/c/w1/x',
    webVersion: 'https://t.example/w/w1/x',
  },
  trackingToken: token,
};

const content = (over: Partial<MailContent>): MailContent => ({
  subject: 'Hello',
  html: '',
  mjml: '',
  text: '',
  ...over,
});

const compile = (over: Partial<MailContent>, options: Partial<Envelope> = {}) =>
  compileMessage(content(over), { ...envelope, ...options }, linkKeys(keyring)('w1'));

async function sentBy(program: Program): Promise<{ html: string; text: string }> {
  const buffer = new MessageBuffer();
  writeMail(buffer, await mailOf(program, recipient, thread));
  const { html = '', text = '' } = await PostalMime.parse(Buffer.from(buffer.written()));
  return { html, text };
}

const hrefs = (html: string) =>
  [...html.matchAll(/<a\b[^>]*?href="([^"]*)"/g)].map(([, url = '']) => url);

/** Where a link of the mail leads, and its number; the link itself if it is not counted. */
function target(program: Program, link: string): string {
  const start = `https://t.example/r/w1/${token}/`;
  if (!link.startsWith(start)) return link;
  const [digits, signed] = link.slice(start.length).split('/');
  const number = Number(digits);
  const url =
    signed === undefined
      ? program.links[number]
      : createLinkReader(keyring)('w1', { token, number, signed });
  return `${number}: ${url}`;
}

const links: [href: string, where: string][] = [
  [
    'https://a.example/?id={{ contact.external_id }}',
    '0: https://a.example/?id=A&1&utm_source=n%20l',
  ],
  [
    'https://a.example/{{ contact.external_id | url_encode }}#x',
    '0: https://a.example/A%261?utm_source=n%20l#x',
  ],
  [
    'https://a.example/?n={{ contact.last_name }}&amp;b=1',
    '0: https://a.example/?n=Lee%20Ann&b=1&utm_source=n%20l',
  ],
  ['{{ contact.custom_string_1 }}', '0: https://own.example/"p"?utm_source=n%20l'],
  [
    '{% if contact.external_id %}https://a.example/{% else %}https://b.example/{% endif %}',
    '0: https://a.example/?utm_source=n%20l',
  ],
  ['{{ contact.nothing }}', '#'],
  ['{{ contact.last_name }}', '#'],
  ['https://{{ contact.last_name }}', 'https://Lee%20Ann'],
  ['mailto:{{ contact.email }}', 'mailto:'],
  ['{{ unsubscribe_url }}', 'https://t.example/u/w1/x'],
  ['{{unsubscribe_url | raw}}?a=b', 'https://t.example/u/w1/x?a=b'],
  ['{{ notification_center_url }}', 'https://t.example/p/w1/x'],
  ['{{ confirm_subscription_url }}', 'https://t.example/c/w1/x'],
  ['{{ web_version_url }}', 'https://t.example/w/w1/x'],
  ['{% if contact %}{{ unsubscribe_url }}{% endif %}', 'https://t.example/u/w1/x'],
];

test.each(links)(
  'a link with Liquid is counted unless it is the system’s: %s',
  async (href, where) => {
    const program = compile({ html: `<body><a href="${href}">x</a></body>` });
    expect(program.slow).toBeUndefined();
    const { html, text } = await sentBy(program);
    expect(hrefs(html).map((link) => target(program, link))).toEqual([where]);
    expect(html).toContain(`<img src="https://t.example/t/w1/${token}"`);
    const [, inText = ''] = /\(([^\s)]+)\)/.exec(text) ?? [];
    if (where.startsWith('0')) expect(target(program, inText)).toBe(where);
  },
);

test.each(links)('the same where the mail is rendered in the thread: %s', async (href, where) => {
  const program = compile({ html: `{% for i in (1..2) %}<a href="${href}">x</a>{% endfor %}` });
  expect(program.slow).toBeDefined();
  const { html } = await sentBy(program);
  expect(hrefs(html).map((link) => target(program, link))).toEqual([where, where]);
});

const section = (inner: string) =>
  `<mj-section><mj-column><mj-text>${inner}</mj-text></mj-column></mj-section>`;

test.each(links)('the same where MJML is compiled for each recipient: %s', async (href, where) => {
  const program = compile({
    mjml: `<mjml><mj-body>${section(`<a href="${href}">x</a>`)}</mj-body></mjml>`,
  });
  const { html, text } = await sentBy(program);
  expect(hrefs(html).map((link) => target(program, link))).toEqual([where]);
  expect(html).toContain(`<img src="https://t.example/t/w1/${token}"`);
  expect(text).not.toContain('safeurl');
});

test('MJML for each recipient: static links keep their numbers, and blocks of a feed have one for all', async () => {
  const mjml = `<mjml><mj-body>${section('<a href="https://a.example/">a</a>')}{% for item in recipient_feed.items %}
    <mj-section><mj-column><mj-button href="{{ item.url }}">b</mj-button></mj-column></mj-section>{% endfor %}
    <mj-section><mj-column><mj-social><mj-social-element name="facebook" href="https://s.example/"></mj-social-element></mj-social></mj-column></mj-section>
    </mj-body></mjml>`;
  const program = compile({ mjml }, { utm: {} });
  expect(program.links).toEqual(['https://a.example/', '{{ item.url }}', '{{ url }}']);
  const { html } = await sentBy(program);
  expect(new Set(hrefs(html).map((link) => target(program, link)))).toEqual(
    new Set([
      '0: https://a.example/',
      '1: https://i.example/1',
      '1: https://i.example/2',
      '2: https://www.facebook.com/sharer/sharer.php?u=https://s.example/',
    ]),
  );
});

test('without tracking a link with Liquid gets UTM values and no number', async () => {
  const html =
    '<a href="https://a.example/?id={{ contact.external_id }}">x</a><a href="{{ unsubscribe_url }}">y</a>';
  const { tracking, ...untracked } = envelope;
  expect(tracking).toBeDefined();
  const program = compileMessage(content({ html }), untracked, linkKeys(keyring)('w1'));
  expect((await sentBy(program)).html.trim()).toBe(
    '<a href="https://a.example/?id=A&amp;1&amp;utm_source=n%20l">x</a><a href="https://t.example/u/w1/x">y</a>',
  );
  expect(program.links).toEqual([]);
});

test('no value can break out of a link that is not counted', async () => {
  const html = '<a href="https://a.example/{{ contact.custom_string_1 | raw }}">x</a>';
  const program = compile({ html }, { utm: { source: 'a' } });
  const [link = ''] = hrefs((await sentBy(program)).html);
  expect(target(program, link)).toBe('0: https://a.example/https://own.example/"p"?utm_source=a');
});
