import type { JsonObject } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newContext, renderNodes } from '#lib/liquid/engine.ts';
import { parseLiquid } from '#lib/liquid/parse.ts';
import { warmUp } from '../test/given.ts';
import { fixBlocks } from './blocks.ts';
import { createCompiler } from './compiler.ts';
import { protectLiquid } from './protect.ts';
import { mjmlSource } from './source.ts';

const compiler = createCompiler();
beforeAll(() => warmUp(compiler), 60_000);
afterAll(() => compiler.close());

const plainPreview = {
  subject: '',
  subjectPreview: '',
  text: '',
  language: '',
  isMarketing: false,
  keepsContents: true,
  links: { utm: {}, isTracked: false, clicks: '', systemUrls: [] },
};
const noHead = { title: 'T', preview: '', language: '' };
const compile = (mjml: string) => compiler.compile(mjmlSource(mjml), noHead, {});

const text = (inner: string) => `<mj-text>${inner}</mj-text>`;
const column = (inner: string) => `<mj-column>${text(inner)}</mj-column>`;
const section = (inner: string) => `<mj-section>${column(inner)}</mj-section>`;
const titled = '<mj-head><mj-title>T</mj-title></mj-head>';
const mail = (body: string, head = titled) => `<mjml>${head}<mj-body>${body}</mj-body></mjml>`;
const inColumn = (inner: string) =>
  mail(`<mj-section><mj-column>${inner}</mj-column></mj-section>`);

/** The body as mail programs see it: Outlook's comments may be split in two. */
function bodyOf(html: string): string {
  return html
    .slice(html.indexOf('<body'))
    .replace(/<!\[endif\]-->\s*<!--\[if mso \| IE\]>/g, '')
    .replace(/\s+/g, ' ')
    .replace(/> </g, '><');
}

const isFixed = (mjml: string) => fixBlocks(protectLiquid(mjml)) !== undefined;

const rendered = (html: string, data: JsonObject) =>
  renderNodes('html', parseLiquid(html, 'html'), newContext('html', data));

const people: JsonObject[] = [
  { vip: true, name: 'Ann', tier: 'gold', items: ['a', 'b', '<c>'] },
  { name: 'Bob', tier: 'silver', items: [] },
  { vip: false, last: true, tier: 'none' },
];

test.each([
  ['texts', inColumn(`{% if vip %}${text('VIP {{ name }}')}{% else %}${text('all')}{% endif %}`)],
  ['sections', mail(`{% if vip %}${section('V')}{% endif %}${section('{{ name }}')}`)],
  [
    'sections in a wrapper',
    mail(`<mj-wrapper>{% unless vip %}${section('1')}{% endunless %}${section('2')}</mj-wrapper>`),
  ],
  [
    'several sections, nested',
    mail(`{% if vip %}${section('1')}{% if name %}${section('2')}${section('3')}{% endif %}
      {% elsif last %}${section('4')}{% endif %}`),
  ],
  [
    'cases',
    mail(`{% case tier %}
      {% when 'gold', 'silver' %}${section('g')}
      {% when 'none' %}${section('n')}
      {% endcase %}`),
  ],
  [
    'columns',
    mail(`<mj-section>${column('1')}{% if vip %}${column('2')}{% endif %}${column('3')}
      {% if last %}${column('4')}{% endif %}</mj-section>`),
  ],
  [
    'columns of a group',
    mail(`<mj-section><mj-group>{% case tier %} {% when 'gold' %}${column('1')}{% else %}${column('2')}{% endcase %}
      ${column('3')}</mj-group>${column('4')}</mj-section>`),
  ],
  [
    'a row of links',
    inColumn(`<mj-social>{% if vip %}<mj-social-element name="x-noshare" href="https://x.example/{{ name }}">X</mj-social-element>{% endif %}
      <mj-social-element name="github-noshare" href="https://g.example/">G</mj-social-element></mj-social>
      <mj-navbar>{% if vip %}<mj-navbar-link href="/a">A</mj-navbar-link>{% endif %}<mj-navbar-link href="/b">B</mj-navbar-link></mj-navbar>`),
  ],
  ['loops over texts', inColumn(`{% for item in items %}${text('{{ item }}')}{% endfor %}`)],
  ['loops over sections', mail(`{% for item in items %}${section('{{ item }}')}{% endfor %}`)],
  [
    'values that are set before',
    `{% assign greeting = name | upcase %}${mail(
      `{% comment %} <mj-text> {% endcomment %}{% assign a = 1 %}${section('{{ greeting }}{{ note }}{{ a }}')}`,
      '{% capture note %}for {{ tier }}{% endcapture %}<mj-head>{% # who %}<mj-title>x</mj-title></mj-head>',
    )}`,
  ],
  ['a hero', mail(`<mj-hero>{% if vip %}${text('V')}{% endif %}${text('all')}</mj-hero>`)],
])('a preview that keeps Liquid around %s shows what every recipient gets', async (_name, mjml) => {
  expect(isFixed(mjml)).toBe(true);
  const kept = await compiler.preview(mjmlSource(mjml), { ...plainPreview, data: undefined });
  for (const data of people) {
    const reference = await compiler.preview(mjmlSource(mjml), { ...plainPreview, data });
    expect(bodyOf(rendered(kept.html, data))).toBe(bodyOf(reference.html));
  }
});

test.each([
  ['a value that may be a block', inColumn('{{ block | raw }}')],
  [
    'a loop over columns',
    mail(`<mj-section>{% for i in items %}${column('1')}{% endfor %}</mj-section>`),
  ],
  [
    'conditions that change on the way',
    mail(
      `<mj-section><mj-column>${text('{% assign vip = last %}')}</mj-column>{% if vip %}${column('1')}{% endif %}</mj-section>`,
    ),
  ],
  ['attributes', inColumn('<mj-text {% if vip %}color="red"{% endif %}>x</mj-text>')],
  ['captured blocks', mail(`{% capture x %}${section('1')}{% endcapture %}${section('2')}`)],
  [
    'the head',
    mail(section('x'), '<mj-head>{% if vip %}<mj-title>x</mj-title>{% endif %}</mj-head>'),
  ],
  [
    'more choices of columns than eight',
    mail(`<mj-section>${`{% if vip %}${column('1')}{% endif %}`.repeat(4)}</mj-section>`),
  ],
])('Liquid that makes blocks in other ways cannot be kept: %s', (_name, mjml) =>
  expect(isFixed(mjml)).toBe(false),
);

test('a large section is not copied for each choice beyond bounds', () => {
  const long = 'x'.repeat(100_000);
  const social = `<mj-social>${'{% if vip %}<mj-social-element name="x">x</mj-social-element>{% endif %}'.repeat(3)}</mj-social>`;
  const inner = `<mj-column>${text(long)}${social}</mj-column>`;
  const mjml = mail(`<mj-section>${`{% if vip %}${inner}{% endif %}`.repeat(3)}</mj-section>`);
  expect(isFixed(mjml)).toBe(false);
});

test('issues inside of Liquid name the line of the source', async () => {
  const mjml = mail(
    `{% if vip %}\n<mj-section><mj-column>\n<mj-txt>x</mj-txt></mj-column></mj-section>{% endif %}`,
  );
  await expect(compile(mjml)).rejects.toThrow('line 3 (mj-txt)');
});

test.each([
  ['captures', mail('{% capture a %}{% endcapture %}'.repeat(12_000))],
  ['captures that are not closed', mail('{% capture a %}'.repeat(20_000))],
  ['conditions', mail('{% if a %}{% endif %}'.repeat(15_000))],
  ['nested conditions', mail('{% if a %}'.repeat(5_000) + '{% endif %}'.repeat(5_000))],
  [
    'cases of a section',
    mail(`<mj-section>${'{% case a %}{% endcase %}'.repeat(9_000)}</mj-section>`),
  ],
  [
    'conditions of a section',
    mail(`<mj-section>${`{% if a %}${column('x')}{% endif %}`.repeat(2_000)}</mj-section>`),
  ],
])('hundreds of kilobytes of %s are compiled in time or refused', async (_name, mjml) => {
  const startMs = process.cpuUsage().user / 1_000;
  await compile(mjml).catch((error: Error) => {
    expect(error.message).not.toContain('call stack');
  });
  expect(process.cpuUsage().user / 1_000 - startMs).toBeLessThan(12_000);
  await compile(mail(section('x')));
});
