import type { JsonObject } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { corpus } from './corpus/corpus.ts';
import { differencesOf } from './difference.ts';
import { escapesOfEngine } from './escaping/engine.ts';
import { escapesOfMails } from './escaping/mails.ts';
import { uses, withoutUse } from './escaping/uses.ts';
import type { GivenMail } from './given.ts';
import { mutants, mutated, survivors } from './mutants.ts';
import { openPaths, type Paths } from './paths.ts';
import { randomTemplate } from './random/template.ts';
import { compareAll } from './run.ts';
import { shrunk } from './shrink.ts';

/** A slice of `npm run mails`. */

const templates = corpus();
const seed = 7;
/** Of several topics and looks. */
const slice = templates.filter((_, index) => index % 25 === 0);
const random = Array.from({ length: 10 }, (_, number) => randomTemplate(seed, number));

let paths: Paths;
beforeAll(async () => {
  paths = await openPaths();
}, 60_000);
afterAll(() => paths.close());

test('the corpus has 150 templates at least, of different names', () => {
  expect(new Set(templates.map(({ name }) => name)).size).toBe(templates.length);
  expect(templates.length).toBeGreaterThanOrEqual(150);
});

test('the reference refuses none of them for a recipient of whom all is known', async () => {
  for (const { mails } of slice) {
    const { html } = await paths.referenceOf(mails[0]!);
    expect(html).toContain('</body>');
  }
});

test(`sent mail, preview and reference say the same of templates of the corpus, and of random ones with seed ${seed}`, async () => {
  const { kinds } = await compareAll(paths, [...slice, ...random]);
  expect(kinds.map(({ kind }) => kind)).toEqual([]);
});

const inText = (html: string) =>
  `<mjml><mj-body><mj-section><mj-column><mj-text>${html}</mj-text></mj-column></mj-section></mj-body></mjml>`;
const inColumn = (mjml: string) =>
  `<mjml><mj-body><mj-section><mj-column>${mjml}</mj-column></mj-section></mj-body></mjml>`;
const inlined = (html: string) =>
  inText(html).replace(
    '<mjml>',
    '<mjml><mj-head><mj-style inline="inline">.k { color: red }</mj-style></mj-head>',
  );

test.each<[string, string, JsonObject]>([
  [
    'the value of a link is spelled as another attribute',
    inText('<a href="{{ v }}">a</a><p title="x">b</p>'),
    { v: 'x' },
  ],
  [
    'a capture holds a link behind a base',
    inColumn(
      '<mj-navbar base-url="https://a.example">{% capture c %}<mj-navbar-link href="{{ v }}">a</mj-navbar-link>{% endcapture %}{{ c | raw }}</mj-navbar>',
    ),
    { v: 'intent://x' },
  ],
  [
    'a capture with tags stands in an attribute',
    inText('{% capture c %}<b title="x">{% endcapture %}<p title="{{ c }}">a</p>'),
    {},
  ],
  ['a raw value holds quotes', inText('<p title="{{ v | raw }}">a</p>'), { v: '"><b>' }],
  [
    'a raw value stands in an attribute of a capture',
    inText('{% capture c %}<p title="{{ v | raw }}">a</p>{% endcapture %}{{ c | raw }}'),
    { v: '"><b>' },
  ],
  [
    'a capture in an attribute of a capture has tags',
    inText(
      '{% capture a %}<b title="x">b</b>{% endcapture %}{% capture c %}<p title="{{ a }}">{{ a }}</p>{% endcapture %}{{ c | raw }}{% capture d %}<i>{{ c }}</i>{% endcapture %}{{ d }}',
    ),
    {},
  ],
  ['a value stands in a tag', inText('{{ "<" | append: v | raw }}{{ w }}>'), { v: 'i', w: 'a=b' }],
  ['a value stands in a tag by raw', inText('<i {{ v }} {{ v | raw }}>a</i>'), { v: 'title=b' }],
  [
    'white space of values is shown by a carousel',
    inColumn('<mj-carousel><mj-carousel-image alt="{{ v }}" /></mj-carousel>'),
    { v: 'a\ufeff b' },
  ],
  ['a comment begins with a value', inText('<!--{{- v -}}-->a'), { v: '[object]' }],
  ['values are braces', inlined('{{ v }}<img class="k">{{ w }}'), { v: '{{', w: '}}' }],
  [
    'an address is white space',
    inColumn('<mj-image src="https://a.example/{{ v }}" />'),
    { v: ' ' },
  ],
  ['an address is a boolean', inColumn('<mj-hero background-url="{{ v }}" />'), { v: true }],
  ['an address stands in pre', inText('<pre><a href="{{ v }}">a</a></pre>'), { v: 'intent://x' }],
  [
    'the template has preview lines of its own',
    inText('a').replace(
      '<mj-body>',
      '<mj-head>{% for i in (1..2) %}<mj-preview>b</mj-preview>{% endfor %}</mj-head><mj-body>',
    ),
    {},
  ],
  ['Liquid before the mail changes its values', `{% assign v = 9 %}${inText('a')}`, { v: 3 }],
])('sent mail, preview and reference say the same where %s', async (_what, mjml, data) => {
  const mail = { name: 'small', subject: 'S', subjectPreview: 'Line {{ v }}', mjml, data };
  expect(await differencesOf(paths, mail)).toEqual([]);
});

test('a random template is the same for its seed and number', () => {
  expect(randomTemplate(3, 4)).toEqual(randomTemplate(3, 4));
  expect(randomTemplate(3, 5).mails[0]?.mjml).not.toBe(randomTemplate(3, 4).mails[0]?.mjml);
});

test('each fault that is planted is found, and nothing where there is none', async () => {
  expect(await survivors([...slice, ...random])).toEqual([]);
});

test('a difference is shown by a mail without what it does not need', async () => {
  const faulty = mutated(mutants['values are trimmed']!);
  const mail: GivenMail = {
    name: 'long',
    subject: 'Hello {{ b }}',
    mjml: '<mjml><mj-body><mj-section><mj-column>{% if b %}<mj-text><b>Hi</b> [{{ a }}]</mj-text><mj-divider />{% endif %}</mj-column></mj-section></mj-body></mjml>',
    data: { a: ' padded ', b: 'x', c: [1, 2] },
  };
  const differs = async (each: GivenMail) => (await differencesOf(faulty, each)).length > 0;
  const { mjml, subject, data } = await shrunk(mail, differs);
  expect(mjml).toMatch(/<mj-column><mj-text>\[?\{\{ a \}\}\]?<\/mj-text><\/mj-column>/);
  expect([subject, Object.keys(data)]).toEqual(['S', ['a']]);
});

test('every filter and tag of the engine is tried with values that are markup', () => {
  expect(withoutUse()).toEqual([]);
});

test('no value becomes markup by a filter or tag, but by raw', () => {
  expect(escapesOfEngine(uses)).toEqual([]);
  expect(escapesOfEngine(['{{ V | raw }}']).length).toBeGreaterThan(5);
});

const someUses = [
  '{{ V }}',
  '{{ V | newline_to_br }}',
  '{% capture made %}{{ V }}{% endcapture %}{{ made }}',
];

test('no value becomes markup of a mail that is sent', async () => {
  const { escapes, refused } = await escapesOfMails(paths, someUses);
  expect(escapes.filter(({ path }) => path === 'sent')).toEqual([]);
  expect(refused.filter((use) => use.startsWith('sent'))).toEqual([]);
});

test('no value becomes markup of a preview', async () => {
  const { escapes } = await escapesOfMails(paths, someUses.slice(0, 1));
  expect(escapes.filter(({ path }) => path === 'preview')).toEqual([]);
});
