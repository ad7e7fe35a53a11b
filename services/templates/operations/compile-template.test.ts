import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { TemplateCategory } from '#gen/postrider/templates/v1/templates_pb.ts';
import { createRequest, mail, useService } from '../test/given.ts';

const given = useService();

const preview = (over: object) =>
  given.client.compileTemplate({ workspaceId: 'acme', messageId: 'm1', ...over });

test('compile answers HTML, text, subject, preview line, size and links', async () => {
  const answer = await preview({
    mjmlSource: mail(
      '<mj-text><p>Hello {{ contact.first_name }}</p><a href="https://a.example/?x=1&amp;y={{ contact.external_id }}">Read &amp; on</a></mj-text><mj-button href="{{ unsubscribe_url }}">Leave</mj-button><mj-image alt="A horse" src="https://a.example/h.png" href="https://b.example/"></mj-image>',
    ),
    subject: 'For {{ contact.first_name }}',
    subjectPreview: '{{ n }} news',
    testData: { n: 3, contact: { first_name: 'Bob', external_id: '7' } },
    contact: { first_name: 'Ann & Co' },
    trackingSettings: { enableTracking: true, endpoint: 'https://mail.example/', utmSource: 'x y' },
  });
  expect(answer).toMatchObject({
    success: true,
    subject: 'For Ann & Co',
    subjectPreview: '3 news',
    text: 'Hello Ann & Co\n\nRead & on (https://a.example/?x=1&y=7&utm_source=x%20y)\nLeave (https://mail.example/u/acme/preview)\n\nA horse (https://b.example/?utm_source=x%20y)',
    warnings: [],
    links: [
      { url: 'https://a.example/?x=1&y=7&utm_source=x%20y', text: 'Read & on', tracked: true },
      { url: 'https://mail.example/u/acme/preview', text: 'Leave', tracked: false },
      { url: 'https://b.example/?utm_source=x%20y', text: 'A horse', tracked: true },
    ],
  });
  expect(answer.html).toContain('<title>For Ann &amp; Co</title>');
  expect(answer.html).toContain('3 news');
  expect(answer.html).toContain('<html lang="en"');
  expect(answer.sizeBytes).toBeGreaterThan(Buffer.byteLength(answer.html ?? ''));
});

test('compile takes a language and a text part, and without tracking the size is that of the HTML', async () => {
  const answer = await preview({
    mjmlSource: mail('<mj-text>{{ contact.language }}</mj-text>'),
    text: 'Bonjour {{ contact.last_name }}',
    language: 'fr',
    contact: { last_name: 'Lee' },
  });
  expect(answer).toMatchObject({ text: 'Bonjour Lee', warnings: [] });
  expect(answer.html).toContain('<html lang="fr"');
  expect(answer.html).toContain('>fr</div>');
  expect(answer.sizeBytes).toBe(Buffer.byteLength(answer.html ?? ''));
});

test.each([
  [
    'Liquid before the mail changes its values',
    '{% assign n = 9 %}<mjml><mj-body></mj-body></mjml>',
  ],
  [
    'Liquid chooses among the lines of the template',
    '<mjml><mj-head>{% if n %}<mj-preview>a</mj-preview>{% else %}<mj-preview>b</mj-preview>{% endif %}<mj-preview>c</mj-preview></mj-head><mj-body></mj-body></mjml>',
  ],
])('the preview line of a mail is the one that is answered where %s', async (_what, mjmlSource) => {
  const { html, subjectPreview } = await preview({
    mjmlSource,
    subjectPreview: '{{ n }} & <b>{{ who }}</b>',
    testData: { n: 3, who: 'R&D' },
  });
  expect(subjectPreview).toBe('3 & <b>R&D</b>');
  expect(html).toMatch(
    /<div style="display:none;[^"]*">3 &amp; &lt;b&gt;R&amp;D&lt;\/b&gt;<\/div>/,
  );
  expect(html).not.toMatch(/>[abc]</);
});

test('markup that is not closed in a preview line leaves the title', async () => {
  const { html } = await preview({
    mjmlSource: mail(''),
    subject: 'News',
    subjectPreview: '{{ n | escape | prepend: "<" }}',
    testData: { n: 'x' },
  });
  expect(html).toContain('<title>News</title>');
});

test('Liquid around blocks is kept without data', async () => {
  const answer = await preview({
    mjmlSource: mail('{% if contact.country %}<mj-text>{{ contact.country }}</mj-text>{% endif %}'),
  });
  expect(answer.html).toMatch(/\{% if contact.country %\}\s*<tr>/);
  expect(answer.text?.replace(/\s+/g, ' ')).toBe(
    '{% if contact.country %} {{ contact.country }} {% endif %}',
  );
});

const warningsOf = async (over: object) =>
  (await preview(over)).warnings.map(({ code, line, tag }) => `${code} ${line} ${tag}`);

test('images without alt text are named with their line, unless they are said to decorate', async () => {
  const image = (more: string) => `\n<mj-image src="https://a.example/a.png" ${more}/>`;
  const mjmlSource = mail(
    `${image('')}${image('alt=""')}${image('alt="x"')}<mj-text>\n<img src="x > y"><img alt="x"></mj-text>`,
  );
  expect(await warningsOf({ mjmlSource })).toEqual([
    'image_without_alt 2 mj-image',
    'image_without_alt 5 img',
  ]);
  const head = '<mj-head><mj-attributes><mj-image alt="" /></mj-attributes></mj-head>';
  const decorated = mjmlSource.replace('<mjml>', `<mjml>${head}`);
  expect(await warningsOf({ mjmlSource: decorated })).toEqual([]);
});

test('HTML that Gmail clips is a warning', async () => {
  const text = (length: number) => mail(`<mj-text>${'x'.repeat(length)}</mj-text>`);
  expect(await warningsOf({ mjmlSource: text(90 * 1024) })).toEqual([]);
  expect(await warningsOf({ mjmlSource: text(102 * 1024) })).toEqual(['clipped 0 html']);
});

test('marketing without a link to leave is a warning, other mail is not', async () => {
  const without = mail('<mj-text>{% comment %}{{ unsubscribe_url }}{% endcomment %}x</mj-text>');
  const marketing = { category: TemplateCategory.MARKETING };
  expect(await warningsOf({ mjmlSource: without, ...marketing })).toEqual([
    'no_unsubscribe_link 0 html',
  ]);
  expect(await warningsOf({ mjmlSource: without })).toEqual([]);
  for (const name of ['unsubscribe_url', 'notification_center_url']) {
    const mjmlSource = mail(
      `{% if contact.email %}<mj-text><a href="{{ ${name} }}">x</a></mj-text>{% endif %}`,
    );
    expect(await warningsOf({ mjmlSource, ...marketing })).toEqual([]);
  }
});

test('a link to the web version is a warning where no contents are kept, and leads to nobody', async () => {
  const mjmlSource = mail('<mj-text><a href="{{ web_version_url }}">Online</a></mj-text>');
  expect(await warningsOf({ mjmlSource })).toEqual(['no_web_version 0 html']);
  const testData = { any: 1 };
  const { html } = await preview({ mjmlSource, testData });
  expect(html).toMatch(/href="[^"]*\/w\/[^"/]+\/preview"/);
});

test('variables that nothing defines are named once, with their part and line', async () => {
  const mjmlSource = mail(
    `\n<mj-text>{{ contact.frist_name }} {{ contact.first_name }} {{ contact.custom_json_1.a.b }} {{ nothing }}
     {% assign own = "x" %}{{ own }}{% for line in order.lines %}{{ line.price }}{{ forloop.index }}{{ other }}{% endfor %}
     {{ order.total }} {{ order.id }} {{ order.lines.size }} {{ broadcast.nmae }} {{ nothing }} {{ global_feed.x[contact.y] }}</mj-text>`,
  );
  const testData = { order: { total: 1, lines: [] } };
  const warned = await warningsOf({
    mjmlSource,
    testData,
    subject: '{{ hello }}',
    text: '{{ order.tax }}',
  });
  expect(warned).toEqual([
    'unknown_variable 1 subject',
    'unknown_variable 2 html',
    'unknown_variable 2 html',
    'unknown_variable 3 html',
    'unknown_variable 4 html',
    'unknown_variable 4 html',
    'unknown_variable 4 html',
    'unknown_variable 1 text',
  ]);
  const { warnings } = await preview({ mjmlSource, testData, contact: { y: 1, frist_name: 'x' } });
  expect(warnings.map(({ message }) => /variable (\S+):/.exec(message)?.[1])).toEqual([
    'nothing',
    'other',
    'order.id',
    'broadcast.nmae',
  ]);
});

test('a mistake in any part is an answer with success false', async () => {
  const mjmlSource = mail('<mj-text>x</mj-text>');
  for (const part of ['subject', 'subjectPreview', 'text']) {
    const { success, error } = await preview({ mjmlSource, [part]: '{{ a | nope }}' });
    expect([success, error?.message]).toEqual([false, expect.stringContaining('nope')]);
  }
  expect(await preview({ mjmlSource, text: 'x'.repeat(501 * 1024) })).toMatchObject({
    success: false,
    error: { message: 'it is larger than 500 KiB' },
  });
});

const bomb = mail(
  `<mj-text>${'{% for a in (1..9999) %}{% for b in (1..9999) %}'.repeat(2)}{{ a }}${'{% endfor %}{% endfor %}'.repeat(2)}</mj-text>`,
);

test('the bombs of one workspace delay another by one bomb at most', async () => {
  const bombs = [1, 2, 3, 4, 5, 6, 7, 8].map(() =>
    preview({ workspaceId: 'bomber', mjmlSource: bomb, testData: { x: 1 } }),
  );
  let ended = 0;
  for (const each of bombs) void each.then(() => (ended += 1));
  const { success } = await preview({ mjmlSource: mail('<mj-text>x</mj-text>') });
  expect(success).toBe(true);
  expect(ended).toBeLessThanOrEqual(2);
  await Promise.all(bombs);
}, 60_000);

test('work that waits is dropped when its caller leaves', async () => {
  const leaving = new AbortController();
  const bombs = [1, 2, 3, 4, 5, 6].map(() =>
    given.client.compileTemplate(
      { workspaceId: 'acme', messageId: 'm', mjmlSource: bomb, testData: { x: 1 } },
      { signal: leaving.signal },
    ),
  );
  const left = Promise.allSettled(bombs);
  setImmediate(() => leaving.abort());
  await left;
  const dropped = await Promise.all(bombs.map((each) => each.catch(({ code }) => code)));
  expect(dropped).toContain(Code.Canceled);
  expect(await given.client.createTemplate(createRequest())).toBeDefined();
});

test.each([
  ['<a href="https://a.example/" '],
  ['<img alt="x" "'],
  ['<img "'],
  ['<a href="{{ x }}">{{ y.z }}</a>'],
  ['<a href="https://a.example/?a=1"><img alt="x"></a>'],
])('400 KB of %j are previewed or refused, and the next one is answered', async (piece) => {
  const text = piece.repeat(400_000 / piece.length);
  const { success, error } = await preview({
    mjmlSource: mail(`<mj-raw>${text}</mj-raw>`),
    testData: { x: 'https://b.example/' },
    trackingSettings: { enableTracking: true, utmSource: 'x' },
  });
  if (!success) expect(error?.message).toMatch(/takes too long|larger|limit|closed/);
  expect((await preview({ mjmlSource: mail('<mj-text>x</mj-text>') })).success).toBe(true);
});

test('objects, stopped links and values that MJML computes with are warnings', async () => {
  const mjmlSource = mail(
    '<mj-text color="{{ contact.custom_string_1 }}">{{ order }}\n<a href="{{ link }}">x</a></mj-text>',
  );
  const testData = { order: { no: 1 }, link: 'javascript:alert(1)' };
  const { html, warnings } = await preview({
    mjmlSource,
    testData,
    contact: { custom_string_1: '#123456' },
  });
  expect(html).toContain('<a href="#">');
  expect(html).toContain('{&#34;no&#34;:1}');
  expect(warnings.map(({ code, line }) => [code, line])).toEqual([
    ['object_as_text', 1],
    ['compiled_for_each', 1],
    ['link_stopped', 0],
  ]);
  expect(warnings.map(({ message }) => message).join()).toContain('{{ contact.custom_string_1 }}');
});

test('a link made from a value leads to an app whose scheme the workspace allows', async () => {
  const mjmlSource = mail('<mj-text><a href="{{ one }}">1</a> <a href="{{ two }}">2</a></mj-text>');
  const testData = { one: 'myapp:open', two: 'other:open' };
  const { html, text, warnings } = await preview({ mjmlSource, testData });
  expect(html).toContain('<a href="myapp:open">1</a> <a href="#">2</a>');
  expect(text).toContain('1 (myapp:open) 2');
  expect(warnings.map(({ code }) => code)).toEqual(['link_stopped']);
});

test.each(['render "footer"', 'include "footer"', 'layout "frame"', 'block main'])(
  '{%% %s %%} is refused when the template is stored, since there are no files',
  async (tag) => {
    const source = mail(`<mj-text>\n{% ${tag} %}</mj-text>`);
    await expect(given.client.createTemplate(createRequest(source))).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: expect.stringMatching(/needs another file.*line:2/),
    });
  },
);
