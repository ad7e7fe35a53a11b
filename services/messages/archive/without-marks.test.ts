import { expect, test } from '@jest/globals';
import { htmlWithoutMarks, textWithoutMarks } from './without-marks.ts';

const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
const idBytes = Buffer.from(id.replaceAll('-', ''), 'hex');
/** A token of the message, whatever its kind: its id, and bytes behind it. */
const token = (seed: number) =>
  Buffer.concat([idBytes, Buffer.alloc(16, seed)]).toString('base64url');
const [act, tracked] = [token(1), token(255)];

const targets = new Map([
  [`https://t.example/r/w/${tracked}/0`, 'https://shop.example/?a=1&b="2"'],
  [`https://t.example/r/w/${tracked}/1/c2lnbmVk`, `https://shop.example/leave?u=${act}`],
]);
const clean = (html: string) => htmlWithoutMarks(html, id, (url) => targets.get(url));

test('a counted link leads where it leads, escaped for its attribute', () => {
  const link = `<a class="x" href="https://t.example/r/w/${tracked}/0">Shop</a>`;
  const target = 'https://shop.example/?a=1&#38;b=&#34;2&#34;';
  expect(clean(link)).toBe(`<a class="x" href="${target}">Shop</a>`);
  expect(clean(link.replaceAll('"', "'"))).toBe(`<a class='x' href='${target}'>Shop</a>`);
  expect(clean(`<a href=https://t.example/r/w/${tracked}/0>Shop</a>`)).toBe(
    `<a href="${target}">Shop</a>`,
  );
});

test.each([
  [`<a href="https://t.example/u/w/${act}">Leave</a>`, '<a >Leave</a>'],
  [`<a HREF = 'https://t.example/p/w/${act}' id=b>Leave</a>`, '<a  id=b>Leave</a>'],
  [`<a href=https://t.example/u/w/${act}>Leave</a>`, '<a >Leave</a>'],
  [`<a href="https://t.example/r/w/${tracked}/7">Unknown</a>`, '<a >Unknown</a>'],
  [`<a href="https://t.example/r/w/${tracked}/1/c2lnbmVk">Leave</a>`, '<a >Leave</a>'],
  [`<img src="https://t.example/t/w/${tracked}" width="1">`, '<img  width="1">'],
  [`<v:rect href="https://t.example/u/w/${act}">`, '<v:rect >'],
  [`<p style="background: url(https://t.example/t/w/${tracked})">x</p>`, '<p >x</p>'],
  [
    `<a title="İİİİİİİİ" href="https://t.example/u/w/${act}">Leave</a><p>rest</p>`,
    '<a title="İİİİİİİİ" >Leave</a><p>rest</p>',
  ],
  [`<a İ="${act}" href="#a">Leave</a>`, '<a  target="_self" href="about:srcdoc#a">Leave</a>'],
])('an attribute with a token is cut: %s', (html, shown) => {
  expect(clean(html)).toBe(shown);
});

test.each([
  [`<p>Leave: https://t.example/u/w/${act} or write</p>`, '<p>Leave:  or write</p>'],
  [`<!-- "${act}" -->`, '<!-- "" -->'],
  [
    `<style>a { background: url(https://t.example/t/w/${tracked}) }</style>`,
    '<style>a { background: url() }</style>',
  ],
  [
    `<title>${act}</title><script>const t = "${tracked}";</script>`,
    '<title></title><script>const t = "";</script>',
  ],
  [`<p title="a > b"><a href="x"https://t.example/u/w/${act}>`, '<p title="a > b"><a href="x">'],
])('a token elsewhere is cut with its word: %s', (html, shown) => {
  expect(clean(html)).toBe(shown);
});

test.each([
  ['<a class=x href="#top">Up</a>', '<a class=x target="_self" href="about:srcdoc#top">Up</a>'],
  ["<a HREF = ' #a&amp;b' id=c>A</a>", `<a target="_self" href='about:srcdoc#a&amp;b' id=c>A</a>`],
  ['<area href=#a"b>', '<area target="_self" href="about:srcdoc#a&#34;b">'],
  [`<a target="_blank" href="#${act}">Leave</a>`, '<a  >Leave</a>'],
])('a link within the mail stays in the frame that shows it: %s', (html, shown) => {
  expect(clean(html)).toBe(shown);
});

test('where a link opens is not up to the mail', () => {
  expect(clean('<a target="_self" href="https://a.example/">A</a>')).toBe(
    '<a  href="https://a.example/">A</a>',
  );
});

test('all else stays as it was sent', () => {
  const html = '<!doctype html><p title="&quot;">Grüße &amp; <b>mehr</b></p><a id="top">İ</a>';
  expect(clean(html)).toBe(html);
});

test('text loses the words with a token', () => {
  const text = `Shop: https://shop.example/\nLeave: https://t.example/u/w/${act}\n`;
  expect(textWithoutMarks(text, id)).toBe('Shop: https://shop.example/\nLeave: \n');
  expect(textWithoutMarks(act.repeat(3), id)).toBe('');
});

test('a large mail of tokens takes time in proportion', () => {
  const many = `<a href="https://t.example/u/w/${act}">x</a>`.repeat(10_000);
  expect(clean(many)).toBe('<a >x</a>'.repeat(10_000));
  expect(textWithoutMarks(`${act} `.repeat(20_000), id)).toBe(' '.repeat(20_000));
});
