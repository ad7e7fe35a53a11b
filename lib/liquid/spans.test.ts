import { expect, test } from '@jest/globals';
import { cpuMs } from '../../test/cpu-time.ts';
import { liquidSpans, mapLiquid } from './spans.ts';

const spansOf = (source: string) =>
  liquidSpans(source).map(({ start, end }) => source.slice(start, end));

test.each([
  ['a {{ b }} c {% d %}', ['{{ b }}', '{% d %}']],
  ['{{ a', []],
  ['{{{ a }}}', ['{{{ a }}']],
  ['{{ "%}" }} {% "}}" %}', ['{{ "%}" }}', '{% "}}" %}']],
  ['{% a {{ b }} %}', ['{% a {{ b }} %}']],
  ['{ {', []],
  ['{{}}{%%}', ['{{}}', '{%%}']],
])('the Liquid of %j is %j', (source, spans) => {
  expect(spansOf(source)).toEqual(spans);
});

test('the text between is changed separately from the Liquid', () => {
  const change = { plain: (text: string) => text.toUpperCase(), liquid: () => '!' };
  expect(mapLiquid('a {{ b }} c {% d', change)).toBe('A ! C {% D');
});

test.each(['{{', '{%', '{% raw %}', '{{ a %}'])(
  'half a megabyte of %j is read in one go',
  (open) => {
    const source = open.repeat(Math.ceil(500_000 / open.length));
    // A scan that starts again at each of them takes minutes.
    expect(cpuMs(() => liquidSpans(source))).toBeLessThan(2_000);
  },
);
