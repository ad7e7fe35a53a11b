import { expect, test } from '@jest/globals';
import { normalHtml, normalSubject, normalText } from './normal-form.ts';

test.each([
  [
    'runs of white space',
    '<p>a  \t b</p>\r\n\r\n<p  class="x">c</p>',
    '<p>a b</p>\n<p class="x">c</p>',
  ],
  ['white space in tags', '<a\n  href="x"\n>b</a\n  >', '<a href="x">b</a>'],
  ['comments that nobody reads', '<p>a<!-- x --></p>', '<p>a</p>'],
  [
    'references',
    '<p title="&#34;&amp;">&apos;&#60;&nbsp;</p>',
    '<p title="&quot;&">\'&lt;\u00a0</p>',
  ],
  [
    'references in what Outlook reads',
    '<!--[if mso]>&#39;<![endif]-->',
    "<!--[if mso]>'<![endif]-->",
  ],
  [
    'references in what a comment ends before',
    '<!--[if mso]><a href="?a&b"><!-- c --></a>',
    '<!--[if mso]><a href="?a&amp;b"><!-- c --></a>',
  ],
  ['half of a pair', '<p>\ud83d</p>', '<p>\ufffd</p>'],
  [
    'ids that MJML makes',
    '<input id="0123456789abcdef"><label for="0123456789abcdef">',
    '<input id="fedcba9876543210"><label for="fedcba9876543210">',
  ],
])('%s make no difference', (_what, one, other) => {
  expect(normalHtml(one)).toBe(normalHtml(other));
});

test.each([
  ['white space and none', '<p>a b</p>', '<p>ab</p>'],
  ['white space in pre', '<pre>a  b</pre>', '<pre>a b</pre>'],
  [
    'white space where it shows',
    '<p style="white-space: pre">a  b</p>',
    '<p style="white-space: pre">a b</p>',
  ],
  ['white space in a value', '<p title="a  b"></p>', '<p title="a b"></p>'],
  ['comments for Outlook', '<!--[if mso]>a<![endif]-->', '<!--[if mso]>b<![endif]-->'],
  ['escaping twice', '<p>&amp;lt;</p>', '<p>&lt;</p>'],
  ['markup and its text', '<p><b></p>', '<p>&lt;b&gt;</p>'],
  ['quotes', '<p title="a">', "<p title='a'>"],
  ['references in styles', '<style>a{content:"&amp;"}</style>', '<style>a{content:"&"}</style>'],
])('%s make one', (_what, one, other) => {
  expect(normalHtml(one)).not.toBe(normalHtml(other));
});

test('a subject is one line, and the text of a part ends without a line break', () => {
  expect(normalSubject(' a\r\n\tb ')).toBe('a b');
  expect(normalText('a\r\nb\n\n')).toBe('a\nb');
});
