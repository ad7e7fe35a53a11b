import { afterAll, expect, test } from '@jest/globals';
import { newThread, RenderThread } from './thread.ts';

const thread = new RenderThread();
afterAll(() => thread.close());

const numbers = { addresses: {}, choices: {}, ranges: [], other: 0 };
const source = {
  subject: 'Hi {{ name }}',
  kind: 'html' as const,
  body: '',
  text: '',
  utm: {},
  numbers,
};

test('loops render in the thread, and the text follows from the HTML', async () => {
  const body = '<p>{% for n in (1..3) %}{{ n }}{{ name }} {% endfor %}</p>';
  expect(await thread.render({ ...source, body }, { name: '<A>' })).toEqual({
    subject: 'Hi <A>',
    html: '<p>1&lt;A&gt; 2&lt;A&gt; 3&lt;A&gt; </p>',
    text: '1<A> 2<A> 3<A>',
  });
});

test('MJML whose blocks come from Liquid compiles for each recipient', async () => {
  const body =
    '<mjml><mj-body>{% for n in names %}<mj-section><mj-column><mj-text>Dear {{ n }}</mj-text></mj-column></mj-section>{% endfor %}</mj-body></mjml>';
  const { html, text } = await thread.render(
    { ...source, kind: 'mjml', body },
    { names: ['A & B', '<mj-text>'] },
  );
  expect(html).toContain('Dear A &amp; B');
  expect(html).toContain('Dear &lt;mj-text&gt;');
  expect(text).toContain('Dear A & B');
});

test('a render error carries its reason', async () => {
  const body = '{% render "missing" %}';
  await expect(thread.render({ ...source, body }, {})).rejects.toThrow(/missing/);
});

const own = { own: { usesLiquid: true } };

test('content of one mail without Liquid stays as it is, and only its text is made of it', async () => {
  const body = '<a href=javascript:x>{{ name }}</a>\r\n<A HREF=https://a.example/1>x</A>';
  const plain = { ...source, body, own: { usesLiquid: false } };
  expect(await thread.render(plain, { name: 'A' })).toEqual({
    subject: 'Hi {{ name }}',
    html: body,
    text: '{{ name }} x (https://a.example/1)',
  });
});

test('a mail of text alone has no HTML', async () => {
  const mail = { ...source, text: '{{ name }}', ...own };
  expect(await thread.render(mail, { name: '<A>' })).toEqual({
    subject: 'Hi <A>',
    html: undefined,
    text: '<A>',
  });
});

test('a tenant whose mails have the thread killed waits, and others go on', async () => {
  const killing = new RenderThread(newThread({ timeMs: 400 }));
  const endless = '{{a}}'.repeat(399_000);
  const check = (html: string, tenant: string) =>
    killing.check({ subject: '', html, text: html }, tenant).then(
      () => 'checked',
      (error: Error) => error.message,
    );
  // The first of its kind may take longer.
  expect(await check('fine', 'w1')).toBe('checked');
  // A mail that waits behind the third kill does not fail by it.
  const outcomes = await Promise.all([
    ...Array.from({ length: 3 }, () => check(endless, 'w1')),
    check('fine', 'w1'),
    check('fine', 'w2'),
  ]);
  const killed = 'the template takes too long to render';
  expect(outcomes).toEqual([killed, killed, killed, 'mails took too long', 'checked']);
  await killing.close();
}, 60_000);

test('a template that runs too long fails and the thread works on', async () => {
  const loop =
    '{% for a in (1..9999) %}{% for b in (1..9999) %}{% for c in (1..9999) %}{{ a }}{% endfor %}{% endfor %}{% endfor %}';
  await expect(thread.render({ ...source, body: loop }, {})).rejects.toThrow(/limit|too long/);
  expect((await thread.render({ ...source, body: 'ok' }, {})).html).toBe('ok');
});
