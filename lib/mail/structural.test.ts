import { expect, test } from '@jest/globals';
import { cpuMs } from '../../test/cpu-time.ts';
import type { Marked } from './marker.ts';
import { markOf } from './marks.ts';
import { decisionOf, type SourceKind, settled } from './structural.ts';

const nonce = 'm0x';
const markedValue = (text: string) => ({
  text,
  html: text.replace(/</g, '&lt;').replace(/"/g, '&#34;'),
});

/** A source whose `V` are marks of one value. */
function markedOf(source: string, text: string): Marked {
  const parts = source.split('V');
  const marks = parts.slice(1).map((part, number) => markOf(nonce, number, 0) + part);
  return {
    source: [parts[0], ...marks].join(''),
    values: marks.map(() => markedValue(text)),
    nonce,
  };
}

/** The source that is compiled, with marks as `V` again. */
const settledOf = (source: string, text: string, kind: SourceKind = 'mjml') =>
  settled(markedOf(source, text), kind).source.replace(/m0xv\d+n0z/g, 'V');

test.each([
  '<mj-text>V</mj-text>',
  '<mj-title>V</mj-title><mj-preview>V</mj-preview>',
  '<mj-button href="V">V</mj-button>',
  '<mj-image src="V" alt="V" title="V" srcset="V" href="https://a.example/V" />',
  '<mj-text><p title="V" class="V" id="V">V</p><!-- V --><!--[if mso]>V<![endif]--></mj-text>',
  '<mj-raw><td width="V" data-a="V">V</td></mj-raw>',
  '<pre><a href="V"><img src="V" srcset="V 1x"></a></pre>',
])('a value only passes through: %s', (source) => {
  expect(settledOf(source, '<a b>')).toBe(source);
});

test.each([
  ['<mj-text color="V">V</mj-text>', '<mj-text color="a">V</mj-text>'],
  ['<mj-column width=\'V\' css-class="V">', '<mj-column width=\'a\' css-class="a">'],
  ['<mjml lang="V">', '<mjml lang="a">'],
  ['<mj-font name="V" />', '<mj-font name="a" />'],
  ['<mj-class name="V" alt="V" />', '<mj-class name="a" alt="V" />'],
  ['<p style="V" hidden="V" role="V">V</p>', '<p style="a" hidden="a" role="a">V</p>'],
  ['<ol start="V" type="V">', '<ol start="a" type="a">'],
  ['<pre>V<b>V</b></pre>V', '<pre>a<b>a</b></pre>V'],
  ['<mj-style>V</mj-style>V<style>V</style>', '<mj-style>a</mj-style>V<style>a</style>'],
  [
    '<mj-style inline="inline">.a{}</mj-style><p class="V" id="V" title="V">',
    '<mj-style inline="inline">.a{}</mj-style><p class="a" id="a" title="V">',
  ],
  [
    '<mj-style inline="inline">[title]{}</mj-style><a href="V" title="V">',
    '<mj-style inline="inline">[title]{}</mj-style><a href="V" title="a">',
  ],
  [
    '<mj-html-attributes><x>V</x></mj-html-attributes><p class="V">',
    '<mj-html-attributes><x>a</x></mj-html-attributes><p class="a">',
  ],
  ['<hV>V</hV>', '<ha>V</ha>'],
])('a value that decides belongs to the structure: %s', (source, expected) => {
  expect(settledOf(source, 'a')).toBe(expected);
});

test.each([
  ['<p V>', '<p onclickalert1>'],
  ['<p V="x">', '<p onclickalert1="x">'],
  ['<p title=V>', '<p title=onclickalert1>'],
  ['</V>', '</onclickalert1>'],
  ['<p></pV>', '<p></ponclickalert1>'],
])('in a tag a value makes no attribute: %s', (source, expected) => {
  expect(settledOf(source, 'onclick="alert(1)"><', 'html')).toBe(expected);
});

test.each([
  ['<mj-section background-url="V">', '<mj-section background-url="#">'],
  ['<mj-navbar base-url="V">', '<mj-navbar base-url="#">'],
  ['<mj-carousel-image thumbnails-src="V" />', '<mj-carousel-image thumbnails-src="#" />'],
  ['<mj-carousel left-icon="V" right-icon="V">', '<mj-carousel left-icon="#" right-icon="#">'],
  ['<mj-font href="V" />', '<mj-font href="#" />'],
])('MJML makes no script of a value: %s', (source, expected) => {
  expect(settledOf(source, 'javascript:alert(1)')).toBe(expected);
});

test.each([
  ['<mj-section background-url=" https://a.example/b c.png ">', 'https://a.example/b%20c.png'],
  ['<mj-section background-url="javascript:alert(1)">', '#'],
  ['<mj-section background-url="true">', '#'],
])('an address of MJML without values is one: %s', (source, address) => {
  expect(settledOf(source, '')).toBe(`<mj-section background-url="${address}">`);
});

test('decisions differ with the values, also where two values together are spelled alike', () => {
  const { deciding } = settled(markedOf('<p style="V" class="V" role="V">', ''), 'mjml');
  const keyOf = (...texts: string[]) => decisionOf(deciding, texts.map(markedValue));
  expect(deciding).toHaveLength(2);
  expect(keyOf('ab', '', 'c')).not.toBe(keyOf('a', '', 'bc'));
  expect(keyOf('1:a', '', '')).not.toBe(keyOf('', '', '1:a'));
  expect(keyOf('a', 'x', 'b')).toBe(keyOf('a', 'y', 'b'));
});

test.each([
  ['elements that keep white space', '<pre>V</pre>'],
  ['elements that are never closed', '<pre>V'],
  ['styles', '<mj-style inline="inline">V</mj-style>'],
  ['closing tags', '</V>'],
  ['closing tags that never end', '</p V'],
  ['tags that never end', '<p V'],
  ['attributes', '<p style="V">'],
  ['addresses', '<mj-section background-url="VVV">'],
  ['values', 'V'],
])('half a megabyte of %s is settled in one go', (_what, unit) => {
  const marked = markedOf(unit.repeat(500_000 / (unit.length + 12)), 'a');
  expect(cpuMs(() => settled(marked, 'mjml'))).toBeLessThan(1_500);
});
