import { expect, test } from '@jest/globals';
import { unescapeAttribute } from '../html/links.ts';
import { newContext, renderInto } from '../liquid/engine.ts';
import { parseLiquid } from '../liquid/parse.ts';
import { Filler, joined } from './fill.ts';
import { type LinkOptions, linkRecipientOf, linkWriter, numberLinks } from './links.ts';
import { Marker } from './marker.ts';
import { mailSource } from './source.ts';
import type { SourceKind } from './structural.ts';
import { type CompiledStructure, compileStructure, type StructureRequest } from './structure.ts';

type Values = Record<string, unknown>;
type Setting = { kind?: SourceKind; links?: LinkOptions };

const tracking = { opens: 'https://t.example/t/', clicks: 'https://t.example/r/' };

function requestOf(source: string, values: Values, setting: Setting = {}): StructureRequest {
  const { kind = 'html', links = { utm: {} } } = setting;
  const body = mailSource(source);
  const marker = new Marker(body, () => undefined);
  const context = newContext('html', values);
  context.renderLimit.check = () => undefined;
  renderInto(marker, 'html', { nodes: parseLiquid(body.text, 'html'), context });
  const { numbers } = numberLinks(body.text, links);
  return { kind, marked: marker.marked(), links, numbers, derivesText: true };
}

function filled({ structure }: CompiledStructure, request: StructureRequest, values: Values) {
  const filler = new Filler(structure, {
    values: request.marked.values,
    recipient: linkRecipientOf(values),
    writeLink: linkWriter(request.links),
  });
  return { html: joined(filler.html), text: joined(filler.text) };
}

async function mailOf(source: string, values: Values, setting?: Setting) {
  const request = requestOf(source, values, setting);
  return filled(await compileStructure(request), request, values);
}

async function usedMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

test('one structure serves recipients whose values decide nothing', async () => {
  const source = '<p>Dear {{ name }}, <a href="https://a.example/{{ name }}">{{ name }}</a></p>';
  const compiled = await compileStructure(requestOf(source, { name: 'Ann' }));
  expect(compiled.deciding).toEqual([]);
  expect(filled(compiled, requestOf(source, { name: '<Bob>' }), {})).toEqual({
    html: '<p>Dear &lt;Bob&gt;, <a href="https://a.example/&lt;Bob&gt;">&lt;Bob&gt;</a></p>',
    text: 'Dear <Bob>, <Bob> (https://a.example/<Bob>)',
  });
});

test('values that decide come before links that depend on what they make', async () => {
  const source = '<p style="{{ a }}"><a href="{{ b }}">x</a></p>';
  const { deciding } = await compileStructure(requestOf(source, { a: 'a', b: 'https://b' }));
  expect(deciding.map((each) => each.map(({ by }) => by))).toEqual([['value'], ['address']]);
});

test.each([
  ['hidden by a style', '<p style="{{ v }}">a</p><p>b</p>', 'display:none', 'b'],
  ['a list with a start', '<ol start="{{ v }}"><li>a</li></ol>', '7', ' 7. a'],
  ['a comment', 'a<!-- {{ v }} -->b', '--> x', 'ab'],
  ['white space that shows', '<pre>{{ v }}</pre>', 'a\n  b', 'a\n  b'],
  ['white space that does not', '<p>{{ v }}</p>', 'a\n  b', 'a b'],
  ['a link that is stopped', '<a href="{{ v }}">x</a>', 'javascript:a', 'x'],
  ['a link to a place', '<a href="{{ v }}">x</a>', '#a', 'x'],
  ['links to places without words', '<a href="#{{ v }}"></a><a href="#{{ v }}"></a>', 'a', ''],
  ['an invisible space in a link', '<a href="a:{{ v }}">x</a>', '\u200b', 'x (a:%E2%80%8B)'],
  ['white space around a raw alt', '<p><img alt="{{ v | raw }}"></p>', 'a ', 'a'],
  ['a reference in a raw alt', '<img alt="{{ v | raw }}">', '&copy;', '©'],
  [
    'words that are the address',
    '<a href="{{ v }}">{{ v }}</a>',
    'https://a.example',
    'https://a.example',
  ],
  ['an image of a value', '<img alt="{{ v }}">', 'A <b>', 'A <b>'],
  ['an image without words', '<p>x<img alt="{{ v }}"></p>', '', 'x'],
])('the text says what the HTML says: %s', async (_what, source, v, text) => {
  expect((await mailOf(source, { v })).text).toBe(text);
});

test.each([
  ['white space alone', '<img src="https://a.example/{{ v }}">', ' ', 'src="https://a.example/"'],
  ['a boolean', '<a href=" {{ v }} ">x</a>', true, 'href="#"'],
  ['white space in a list', '<img srcset="{{ v }} 1x">', ' a', 'srcset=" a 1x"'],
  ['an app in a list', '<pre><img srcset="{{ v }} 1x, b 2x"></pre>', 'a:b', 'srcset="# 1x, b 2x"'],
  ['an app in pre', '<pre><a href="{{ v }}">x</a></pre>', 'intent:a', 'href="#"'],
])('an address is written as for this recipient alone: %s', async (_what, source, v, expected) => {
  expect((await mailOf(source, { v })).html).toContain(` ${expected}`);
});

test.each([
  '<a href="{{ v }}">x</a>',
  '<a href=" {{ v }}">x</a>',
  '<a href={{ v }}>x</a>',
  "<a href='{{ v }}'>x</a>",
  '{% capture c %}<a href="{{ v }}">x</a>{% endcapture %}{{ c }}{{ c | append: "!" }}',
  '{% capture c %}{{ v }}{% endcapture %}<a href="{{ c }}">x</a>',
  '<a href="{{ v | raw }}">x</a>{{ v | prepend: "<a href=" | raw }}>',
  '<!--[if mso]><v:roundrect href="{{ v }}"></v:roundrect><![endif]-->',
  '<svg><a xlink:href="{{ v }}"></a></svg><object data="{{ v }}"></object><form action="{{ v }}">',
  '<img src="{{ v }}" srcset="{{ v }} 2x"><table background="{{ v }}">',
])('no value makes a script of an address: %s', async (source) => {
  for (const v of ['javascript:alert(1)', 'java\tscript:a', '\u0001JavaScript:a', 'vbscript:a']) {
    const { html } = await mailOf(source, { v });
    expect(html).not.toMatch(/["'=,][^\w#]*(java|vb)script:/i);
  }
});

test('no value makes a script behind the beginning of an address that the author wrote', async () => {
  const capture = '{% capture c %}<a href="java{{ v }}">x</a>{% endcapture %}';
  const source = `<a href="java{{ v }}">x</a>${capture}{{ c }}{{ c | append: "!" }}`;
  const { html } = await mailOf(source, { v: 'script:alert(1)' });
  expect(html).not.toContain('javascript');
});

test('an attribute whose branches of Liquid bring the quotes is as it is written', async () => {
  const source = '<a href={% if v %}"https://a.example/{{ v }}"{% else %}{{ w }}{% endif %}>x</a>';
  expect((await mailOf(source, { v: '"b' })).html).toBe('<a href="https://a.example/&#34;b">x</a>');
  expect((await mailOf(source, { w: 'b onclick=c' })).html).not.toContain('onclick=');
});

test('a raw value in a tag is as it is written, and any other one makes no attribute', async () => {
  const source = '<p {{ v | raw }}><b {{ v }}></b></p><{{ w | raw }} {{ v | raw }}>';
  const { html } = await mailOf(source, { v: 'id=a', w: 'i' });
  expect(html).toBe('<p id=a><b ida></b></p><i id=a>');
});

test('a script that MJML puts together of values leads nowhere', async () => {
  const mjml = `<mjml><mj-head><mj-html-attributes><mj-selector path=".a"><mj-html-attribute name="href">{{ v }}</mj-html-attribute></mj-selector></mj-html-attributes></mj-head>
<mj-body><mj-section><mj-column><mj-text><a class="a" href="https://a.example">x</a></mj-text>
<mj-navbar base-url="{{ v }}"><mj-navbar-link href="x">y</mj-navbar-link></mj-navbar>
<mj-carousel><mj-carousel-image src="{{ v }}" thumbnails-src="{{ v }}" /></mj-carousel></mj-column></mj-section></mj-body></mjml>`;
  const { html } = await mailOf(mjml, { v: 'javascript:alert(1)' }, { kind: 'mjml' });
  expect(html).not.toContain('javascript');
  expect(html).toContain('class="a" href="#"');
});

test('an address of a network is what the author or a value says, also with a dollar sign', async () => {
  const link = (address: string) =>
    `<mj-social-element name="github-noshare" href="https://a.example/${address}" />`;
  const mjml = `<mjml><mj-body><mj-section><mj-column><mj-social>${link('$$&')}${link('{{ v }}')}</mj-social></mj-column></mj-section></mj-body></mjml>`;
  const { html } = await mailOf(mjml, { v: '$$&' }, { kind: 'mjml' });
  const hrefs = [...html.matchAll(/href="([^"]*)"/g)].map(([, href = '']) =>
    unescapeAttribute(href),
  );
  expect(hrefs).toEqual(['https://a.example/$$&', 'https://a.example/$$&']);
});

test('white space in what Outlook does not read is the same in the HTML and in the text', async () => {
  const mjml =
    '<mjml><mj-body><mj-section><mj-column><mj-carousel><mj-carousel-image alt="{{ v }}" /></mj-carousel></mj-column></mj-section></mj-body></mjml>';
  const { html, text } = await mailOf(mjml, { v: 'a\ufeff b' }, { kind: 'mjml' });
  expect(html).toContain('alt="a b"');
  expect(text).toBe('a b\na b');
});

test('the title has the subject with its quotes, in its element and in its attribute', async () => {
  const mjml =
    '<mjml><mj-head><mj-title>{{ v }}</mj-title></mj-head><mj-body><mj-text>x</mj-text></mj-body></mjml>';
  const { html } = await mailOf(mjml, { v: 'Say "a" & \'b\' </title><b>' }, { kind: 'mjml' });
  const escaped = 'Say &#34;a&#34; &amp; &#39;b&#39; &lt;/title&gt;&lt;b&gt;';
  expect(html).toContain(`<title>${escaped}</title>`);
  expect(html).toContain(`aria-label="${escaped}"`);
});

test('the pixel stands before the end of the body, behind letters that grow in lower case', async () => {
  const source = `<body><p>${'İ'.repeat(20)}</p></body>`;
  const { html } = await mailOf(source, { tracking_token: 'T' }, { links: { utm: {}, tracking } });
  expect(html).toMatch(/<\/p><img src="https:\/\/t\.example\/t\/T"[^>]*><\/body>$/);
});

test('100,000 values make a mail', async () => {
  const mjml =
    '<mjml><mj-body><mj-section><mj-column><mj-text>{% for v in list %}{{ v }},{% endfor %}</mj-text></mj-column></mj-section></mj-body></mjml>';
  const list = Array.from({ length: 100_000 }, () => 'a');
  const { html, text } = await mailOf(mjml, { list }, { kind: 'mjml' });
  expect(html).toContain('a,'.repeat(100_000));
  expect(text).toBe('a,'.repeat(100_000));
});

test.each([
  [
    'links with values',
    '{% for v in list %}<a href="https://a.example/{{ v }}">{{ v }}</a>{% endfor %}',
  ],
  ['links by values', '{% for v in list %}<a href="{{ v }}">x</a>{% endfor %}'],
  ['links that are the same', '{% for v in list %}<a href="https://a.example/">x</a>{% endfor %}'],
])('10,000 %s are compiled in seconds', async (_what, source) => {
  const list = Array.from({ length: 10_000 }, (_, number) => `https://a.example/${number}`);
  const request = requestOf(source, { list }, { links: { utm: {}, tracking } });
  expect(await usedMs(() => compileStructure(request))).toBeLessThan(5_000);
});

test.each([
  ['comments that Outlook reads', '<!--[if a]>x'],
  ['comments of Outlook that never begin', '<!--[if a '],
  ['comments of Outlook with their ends', '<!--[if a]>x<![endif]-->'],
  ['ends of a body', '</body>'],
  ['marks of links', '<a href="https://a.example">'],
])('half a megabyte of %s is compiled in one go', async (_what, unit) => {
  const mjml = unit.repeat(500_000 / unit.length);
  const request = requestOf('', {}, { kind: 'mjml', links: { utm: {}, tracking } });
  const compile = () => compileStructure({ ...request, derivesText: false }, async () => mjml);
  expect(await usedMs(compile)).toBeLessThan(1_500);
});
