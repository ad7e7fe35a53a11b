import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { convert } from 'html-to-text';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { newsletter } from '../../bench/newsletter.ts';
import { cpuMs } from '../../test/cpu-time.ts';
import { compactHtml } from './compact.ts';

type Node = DefaultTreeAdapterTypes.Node;

const compact = (html: string) => compactHtml(html, (comment) => comment.includes('LIQUID'));

/** The tree of a document without plain comments, with each run of white space as one space. */
function treeOf(html: string): unknown {
  return normal(parse(html));
}

function normal(node: Node, isVerbatim = false): unknown {
  if ('value' in node) return isVerbatim ? node.value : node.value.replace(/[ \t\r\n\f]+/g, ' ');
  if ('data' in node) return /^(\[|<!|>)|LIQUID/.test(node.data) ? node.data : '';
  if (!('childNodes' in node)) return node.nodeName;
  const isKept = isVerbatim || /^(pre|textarea|style|script|title)$/.test(node.nodeName);
  const children = node.childNodes
    .map((child) => normal(child, isKept))
    .filter((child) => child !== '')
    // Between the parts of a table it is not rendered, and where it ends up depends on the text
    // after it.
    .filter((child) => child !== ' ' || !/^(table|tbody|tr)$/.test(node.nodeName));
  return {
    name: node.nodeName,
    attributes: 'attrs' in node ? node.attrs : [],
    children: joined(children),
  };
}

/** Text on both sides of a removed comment is one text. */
function joined(children: unknown[]): unknown[] {
  const all: unknown[] = [];
  for (const child of children) {
    const last = all.at(-1);
    if (typeof child === 'string' && typeof last === 'string')
      all[all.length - 1] = (last + child).replace(/ +/g, ' ');
    else all.push(child);
  }
  return all;
}

function expectSame(html: string): void {
  expect(treeOf(compact(html))).toEqual(treeOf(html));
  expect(convert(compact(html))).toBe(convert(html));
}

const demo = readFileSync(new URL('../../deploy/demo/newsletter.mjml', import.meta.url), 'utf8');

const body = (inner: string) =>
  `<mjml><mj-body><mj-section><mj-column>${inner}</mj-column></mj-section></mj-body></mjml>`;

test.each([
  ['the newsletter of the benchmark', newsletter, 0.85],
  ['the newsletter of the demo', demo, 0.85],
  [
    'inline elements',
    body('<mj-text>a <b>b</b>\n   <i>c</i> <!-- note --> d&nbsp; e</mj-text>'),
    0.85,
  ],
  [
    'preformatted text',
    body('<mj-text><pre>\n  a\n    b</pre>  <textarea>\n x\n  y</textarea></mj-text>'),
    0.85,
  ],
  [
    'social links and a menu',
    body(
      '<mj-social><mj-social-element name="github" href="https://a.example">A</mj-social-element></mj-social><mj-navbar hamburger="hamburger"><mj-navbar-link href="/a">A</mj-navbar-link></mj-navbar>',
    ),
    0.9,
  ],
])('shortens %s and changes neither its tree nor its text', async (_, mjml, share) => {
  const { html } = await createRequire(import.meta.url)('mjml')(mjml, {});
  expectSame(html);
  expect(compact(html).length).toBeLessThan(html.length * share);
  expect(compact(html).match(/<!--\[if/g)).toEqual(html.match(/<!--\[if/g));
});

test.each([
  ['<p>a</p>\n\n    <p\n  class="x  y"\n>b</p>', '<p>a</p>\n<p class="x  y">b</p>'],
  ['<p>a</p> \r <p>b</p>', '<p>a</p>\n<p>b</p>'],
  ['a <!-- note --> b', 'a  b'],
  ['a<!--[note]--><!--[if-->b<!--[endif]-->', 'ab<!--[endif]-->'],
  ['a <!-- LIQUID --> b', 'a <!-- LIQUID --> b'],
  ['<!--[if mso]>  <td>  <![endif]-->', '<!--[if mso]>  <td>  <![endif]-->'],
  ['<!--[if !mso]><!-->  <b>  <!--<![endif]-->', '<!--[if !mso]><!--> <b> <!--<![endif]-->'],
  ['<PRE>  a\n\n b</pre>  c', '<PRE>  a\n\n b</pre> c'],
  ['<style>\n  a  {}\n</style>  b', '<style>\n  a  {}\n</style> b'],
  ['<a href=x />  b', '<a href=x /> b'],
  ['1 < 2   and  3', '1 < 2 and 3'],
  ['a   b <!-- not closed   x', 'a b <!-- not closed   x'],
  ['<p style="white-space: pre-line">a\n\n b</p>', '<p style="white-space: pre-line">a\n\n b</p>'],
])('makes of %j %j', (html, short) => {
  expect(compact(html)).toBe(short);
});

test('the end of a pre that another element hides is none', () => {
  expectSameTree('<pre><style></pre>  ');
  expectSameTree('<pre><pre></pre>  ');
  expectSameTree('<PRE>a  <b>x</b></PRE>  b');
});

function expectSameTree(inner: string): void {
  const html = `<!doctype html><html><head></head><body>a${inner}</body></html>`;
  expect(treeOf(compact(html))).toEqual(treeOf(html));
}

test('changes the tree of no document', () => {
  const pieces = [
    '<p>',
    '</p>',
    '<b class="a  b">',
    '</b>',
    '<pre>',
    '</pre>',
    '  ',
    '\n\n',
    'x',
    ' y ',
    '<!-- c -->',
    '<!--[if mso]> t <![endif]-->',
    '<br />',
    '<td >',
    '<table>',
    '</table>',
    '<style>',
    '</style>',
    '< ',
    '&amp;',
    '<div\n id=a\n>',
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 30 }), (parts) => {
      const html = `<!doctype html><html><head></head><body>a${parts.join('')}</body></html>`;
      expect(treeOf(compact(html))).toEqual(treeOf(html));
    }),
    { seed: 7 },
  );
});

test('compacting is linear in the size of unclosed tags', () => {
  const ms = cpuMs(() => {
    for (const piece of ['<!--', '<a "', '<pre>', '< ', '<a b="'])
      compact(piece.repeat(500_000 / piece.length));
  });
  expect(ms).toBeLessThan(2_000);
});
