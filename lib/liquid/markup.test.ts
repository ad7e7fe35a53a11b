import { expect, test } from '@jest/globals';
import { cpuMs } from '../../test/cpu-time.ts';
import { newContext, renderNodes } from './engine.ts';
import { parseLiquid } from './parse.ts';

const rendered = (source: string, values: Record<string, unknown>) =>
  renderNodes('html', parseLiquid(source, 'html'), newContext('html', values));

const capture = '{% capture c %}<b>{{ x }}</b>{% endcapture %}';
const kept = '<b>&lt;i&gt;</b>';

test.each([
  ['{{ "" | append: c | raw }}', kept],
  ['{{ "" | append: c }}', kept],
  ['{{ nothing | default: c }}', kept],
  ['{{ nothing | default: c | raw }}', kept],
  ['{{ "<u>" | append: c | raw }}', `<u>${kept}`],
  ['{{ "<u>" | append: c }}', `&lt;u&gt;${kept}`],
  ['{{ "<u>" | prepend: c | raw }}', `${kept}<u>`],
  ['{{ "a,b" | replace: ",", c | raw }}', `a${kept}b`],
  [
    '{% assign l = "a b" | split: " " | push: c %}{{ l | join: "<br>" | raw }}',
    `a<br>b<br>${kept}`,
  ],
  ['{% assign l = "a b" | split: " " | push: c %}{{ l | raw }}', `ab${kept}`],
  ['{{ "a b" | split: " " | join: c | raw }}', `a${kept}b`],
])(
  'a capture that is joined to a text stays markup with its values escaped: %s',
  (use, expected) => {
    expect(rendered(capture + use, { x: '<i>' })).toBe(expected);
  },
);

test.each([
  '{% capture d %}{{ x | append: c }}{% endcapture %}{{ d | raw }}',
  '{% capture d %}{% assign l = "" | split: "" | push: x %}{{ l | join: c }}{% endcapture %}{{ d | raw }}',
])('text that an output in a capture has written stays text by raw: %s', (use) => {
  expect(rendered(capture + use, { x: '<i>' })).not.toContain('<i>');
});

test.each([
  '{{ c | split: " " | join: "" | raw }}',
  '{{ c | split: " " | raw }}',
  '{{ c | split: " " | json | raw }}',
  '{{ "a" | append: list | raw }}',
  '{% assign l = "a b" | split: " " | push: c %}{{ l | json | raw }}',
  '{% assign l = "a b" | split: " " | push: c %}{{ "a" | append: l | raw }}',
  '{% assign l = "a b" | split: " " | push: c %}{{ l | array_to_sentence_string | raw }}',
  '{% assign l = "a b" | split: " " | push: c | reverse %}{{ l[0] | upcase | raw }}',
  '{{ "a" | replace: "a", c | upcase | raw }}',
])('no value of a capture becomes markup by way of a list or an argument: %s', (use) => {
  expect(rendered(capture + use, { x: '<i>' })).not.toMatch(/<i>/i);
});

test('parts of a text that was escaped before are raw by `raw`', () => {
  const use = '{{ x | escape | split: ";" | join: "<br>" | raw }}';
  expect(rendered(use, { x: '<i>;b' })).toBe('&lt<br>i&gt<br><br>b');
  expect(rendered('{{ x | escape | url_decode | raw }}', { x: '%3Ci%3E' })).not.toContain('<i>');
});

test('captures within captures keep no ever larger number of empty values', () => {
  const again = '{% capture c %}{{ c }}{{ c }}{% endcapture %}'.repeat(40);
  const ms = cpuMs(() =>
    expect(rendered(`{% capture c %}{{ x }}{% endcapture %}${again}{{ c }}`, { x: '' })).toBe(''),
  );
  expect(ms).toBeLessThan(1_000);
});

test('a capture of 100,000 values is written in another one', () => {
  const loop = '{% for each in list %}{{ each }},{% endfor %}';
  const source = `{% capture c %}${loop}{% endcapture %}{% capture d %}{{ c }}{% endcapture %}{{ d | size }}`;
  const list = Array.from({ length: 100_000 }, () => 'a');
  // Rendering it takes longer than a mail may.
  const context = newContext('html', { list });
  context.renderLimit.check = () => undefined;
  expect(renderNodes('html', parseLiquid(source, 'html'), context)).toBe('200000');
});
