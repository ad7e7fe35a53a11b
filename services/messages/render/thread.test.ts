import { afterAll, expect, test } from '@jest/globals';
import { RenderThread } from './thread.ts';

const thread = new RenderThread();
afterAll(() => thread.close());

const source = { subject: 'Hi {{ name }}', html: '', mjml: '', text: '', utm: {} };

test('loops render in the thread, and the text follows from the HTML', async () => {
  const html = '<p>{% for n in (1..3) %}{{ n }}{{ name }} {% endfor %}</p>';
  expect(await thread.render({ ...source, html }, { name: '<A>' })).toEqual({
    subject: 'Hi <A>',
    html: '<p>1&lt;A&gt; 2&lt;A&gt; 3&lt;A&gt; </p>',
    text: '1<A> 2<A> 3<A>',
  });
});

test('MJML whose blocks come from Liquid compiles for each recipient', async () => {
  const mjml =
    '<mjml><mj-body>{% for n in names %}<mj-section><mj-column><mj-text>Dear {{ n }}</mj-text></mj-column></mj-section>{% endfor %}</mj-body></mjml>';
  const { html, text } = await thread.render(
    { ...source, mjml },
    { names: ['A & B', '<mj-text>'] },
  );
  expect(html).toContain('Dear A &amp; B');
  expect(html).toContain('Dear &lt;mj-text&gt;');
  expect(text).toContain('Dear A & B');
});

test('a render error carries its reason', async () => {
  const html = '{% render "missing" %}';
  await expect(thread.render({ ...source, html }, {})).rejects.toThrow(/missing/);
});

test('a template that runs too long fails and the thread works on', async () => {
  const loop =
    '{% for a in (1..9999) %}{% for b in (1..9999) %}{% for c in (1..9999) %}{{ a }}{% endfor %}{% endfor %}{% endfor %}';
  await expect(thread.render({ ...source, html: loop }, {})).rejects.toThrow(/limit|too long/);
  expect((await thread.render({ ...source, html: 'ok' }, {})).html).toBe('ok');
});
