import { expect, test } from '@jest/globals';
import { newContext, renderInto } from '#lib/liquid/engine.ts';
import { rawValue } from '#lib/liquid/markup.ts';
import { parseLiquid } from '#lib/liquid/parse.ts';
import { Marker } from './marker.ts';
import { spansOf } from './marks.ts';
import { mailSource } from './source.ts';

const newMarker = (source = '') => new Marker(mailSource(source), () => undefined);
const node = (begin: number) => ({ begin });

/** The output of Liquid, with each value as its text in brackets. */
function markedOf(source: string, values: Record<string, unknown>): string {
  const body = mailSource(source);
  const marker = new Marker(body, () => undefined);
  const context = newContext('html', values);
  renderInto(marker, 'html', { nodes: parseLiquid(body.text, 'html'), context });
  const { source: text, nonce, values: found } = marker.marked();
  return spansOf(text, nonce)
    .map((span) => {
      if (span.kind === 'text') return span.text;
      return span.kind === 'value' ? `[${found[span.number]?.text}]` : '';
    })
    .join('');
}

test.each([
  ['a value', '<p>{{ v }}</p>', 'Ann', '<p>[Ann]</p>'],
  ['markup in a value', '<p>{{ v }}</p>', '<b>', '<p>[<b>]</p>'],
  ['white space around a value', '<p>{{ v }}</p>', ' \n a b\u200b', '<p> \n [a b]\u200b</p>'],
  ['an empty value', '<p>{{ v }}</p>', '', '<p></p>'],
  ['white space alone', '<p>{{ v }}</p>', ' \u00a0 ', '<p> \u00a0 </p>'],
  ['a word that MJML reads as a boolean', '<p>{{ v }}</p>', 'true', '<p>true</p>'],
  [
    'a value in a capture',
    '{% capture c %}<b>{{ v }}</b>{% endcapture %}{{ c }}',
    '<',
    '<b>[<]</b>',
  ],
  ['a raw value', '<p>{{ v | raw }}</p>', 'a <b>c</b>', '<p>[a] <b>[c]</b></p>'],
  ['a raw comment', '<p>{{ v | raw }}</p>', '<!-- <b>a</b> -->c', '<p><!-- <b>a</b> -->[c]</p>'],
  ['a raw tag without its end', '<p>{{ v | raw }}</p>', 'a <b c', '<p>[a] <b c</p>'],
  ['a raw value in an attribute', '<p title="{{ v | raw }}">', 'a "<b>', '<p title="[a "<b>]">'],
  ['white space around a raw value', '<p title="{{ v | raw }}">', ' a ', '<p title=" [a] ">'],
  ['references in a raw alt', '<img alt="{{ v | raw }}">', '&copy;"', '<img alt="&copy;&#34;">'],
  ['references in a raw link', '<a href="{{ v | raw }}">', '?a=1&b', '<a href="[?a=1&b]">'],
  ['a raw boolean', '<img alt="{{ v | raw }}">', 'true', '<img alt="true">'],
  [
    'a raw value in an attribute of a capture',
    '{% capture c %}<p title="{{ v | raw }}">{% endcapture %}{{ c }}',
    '"><b>',
    '<p title="["><b>]">',
  ],
  [
    'a capture in an attribute of another one',
    '{% capture a %}<b c="{{ v }}">{{ v | raw }}{% endcapture %}{% capture b %}<p title="{{ a }}">{% endcapture %}{{ b }}',
    '"d"',
    '<p title="[<b c="]["d"][">]["d"]">',
  ],
  ['a value in an attribute without quotes', '<p title={{ v }}>', 'a b', '<p title="[a b]">'],
])(
  'the structure has all of a source that the outcome depends on: %s',
  (_what, source, v, expected) => {
    expect(markedOf(source, { v })).toBe(expected);
  },
);

/** A key is a promise that the source is the same. */
test.each<[string, (marker: Marker) => void, (marker: Marker) => void]>([
  [
    'the text between two outputs comes before or after a value',
    (marker) => {
      marker.value('a', node(1));
      marker.text('x');
    },
    (marker) => {
      marker.text('x');
      marker.value('a', node(1));
    },
  ],
  [
    'another output writes the value',
    (marker) => marker.value('a', node(1)),
    (marker) => marker.value('a', node(2)),
  ],
  [
    'a value is spelled as the key of others',
    (marker) => marker.write('m1;'),
    (marker) => {
      marker.write('m');
      marker.write('1;');
    },
  ],
  [
    'a value is raw',
    (marker) => marker.value('a', node(1)),
    (marker) => marker.markup(rawValue('a'), node(1)),
  ],
  [
    'a value is empty',
    (marker) => marker.value('a', node(1)),
    (marker) => marker.value('', node(1)),
  ],
  ['another way is taken', (marker) => marker.way(1), (marker) => marker.way(2)],
])('keys differ where %s', (_what, one, other) => {
  const [first, second] = [newMarker(), newMarker()];
  one(first);
  other(second);
  expect(first.key).not.toBe(second.key);
});

test('keys are the same where only values differ', () => {
  const keyOf = (text: string) => {
    const marker = newMarker();
    marker.text('Dear ');
    marker.value(text, node(5));
    return marker.key;
  };
  expect(keyOf('Ann')).toBe(keyOf('<script>'));
});

test('the characters of text and values are counted before they are kept', () => {
  let count = 0;
  const marker = new Marker(mailSource(''), (size) => {
    count += size;
    if (count > 10) throw new Error('too many');
  });
  marker.text('12345');
  marker.value('1234', node(1));
  expect(() => marker.value('<', node(2))).toThrow('too many');
});
