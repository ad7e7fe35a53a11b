import { expect, test } from '@jest/globals';
import { engines, newContext, renderNodes } from '#lib/liquid/engine.ts';
import { parseLiquid } from '#lib/liquid/parse.ts';
import { cpuMs } from '../../../test/cpu-time.ts';
import { isQuick } from './quick.ts';
import { quickFilters } from './quick-filters.ts';

const isQuickSource = (source: string) => isQuick(parseLiquid(source, 'html'));

const doubled = `{% assign x = contact.first_name %}${'{% assign x = x | append: x %}'.repeat(12)}`;

test.each([
  `${doubled}{{ x | where_exp: "i", "i" }}`,
  '{{ contact.custom_string_1 | split: "" | sort }}',
  '{% if contact.first_name | no_such_filter %}x{% endif %}',
  '{% cycle contact.first_name | sort, "b" %}',
  '{{ contact.custom_json_1 | json }}',
  doubled,
  '{% assign x = contact.email %}{% assign x = x | append: x %}{% if x %}{{ x | prepend: x }}{% endif %}',
  '{% capture x %}{{ contact.email }}{% endcapture %}{% capture x %}{{ x }}{{ x }}{% endcapture %}',
  '{% capture x %}{{ contact.email }}{% endcapture %}{% assign y = x %}{% capture x %}{{ y }}{{ y }}{% endcapture %}',
  '{% capture x %}{{ contact.email }}{% endcapture %}{{ contact.email | append: x }}',
  '{% assign x = contact.email | append: contact.phone %}{% assign x = x | append: x %}',
  '{{ [contact.email] }}',
  '{% if contact.custom_string_1 contains contact.custom_string_2 %}x{% endif %}',
  '{% if contact.custom_json_1 == contact.custom_json_2 %}x{% endif %}',
  `{% if contact.custom_string_1 contains "${'a'.repeat(201)}" %}x{% endif %}`,
  '{% case contact.email %}{% when contact.phone %}x{% endcase %}',
  '{{ contact.created_at | date: "%5000000d" }}',
  '{{ contact.created_at | date: "%-0500N" }}',
  '{{ contact.created_at | date: contact.custom_string_1 }}',
  '{{ contact.custom_string_1 | replace: contact.custom_string_2, "" }}',
  '{{ contact.custom_string_1 | replace: "", "x" }}',
  '{{ contact.custom_string_1 | replace: "a", "aa" }}',
  '{{ contact.custom_string_1 | replace_first: contact.custom_string_2 }}',
  '{{ (1..5000000) }}',
  '{{ (1..contact.custom_number_1) | size }}',
  `{{ contact.email ${'| upcase '.repeat(11)} }}`,
  '{{ 1 | at_least: contact.email, contact.email, contact.email }}',
  `{% if ${'contact.email == "a" or '.repeat(16)} true %}x{% endif %}`,
])('Liquid that may take long does not run in the main thread: %s', (source) => {
  expect(isQuickSource(source)).toBe(false);
});

test.each([
  '{% assign name = contact.first_name | default: "friend" | capitalize %}Dear {{ name }},',
  '{% assign name = contact.first_name | default: "friend" %}{% assign line = "Hi " | append: name %}{{ line | append: "!" }}',
  '{% assign name = contact.first_name %}{% capture line %}Hi {{ name }}{% endcapture %}{{ line | strip }}',
  '{{ contact.created_at | date: "%-d. %B %Y, %H:%M" }}',
  '{% if contact.language == "de" and contact.custom_number_1 > 3 %}Hallo{% elsif contact.country contains "A" %}Servus{% else %}Hi{% endif %}',
  '{% case contact.language %}{% when "de", "at" %}a{% else %}b{% endcase %}{% cycle "a", "b" %}{% increment n %}',
  '{{ contact.custom_number_1 | times: contact.custom_number_2 | round: 2 }} {{ contact.email | upcase | truncate: 20 }}',
  '{{ contact.custom_json_1.items[0].name | escape }} {{ contact["email"] }} {{ (1..5) | size }}',
  '{{ contact.first_name | replace: "&", "+" | url_encode }}',
  '{% unless contact.phone == blank %}{{ contact.phone | slice: 0, 3 }}{% endunless %}',
])('usual Liquid of newsletters is quick: %s', (source) => {
  expect(isQuickSource(source)).toBe(true);
});

/** Arguments that the rules let pass, as bad as they can be. */
const long = `"${'a'.repeat(199)}b"`;
const samples: Record<string, string[]> = {
  append: ['v', long],
  prepend: ['v', long],
  default: ['v'],
  at_least: ['v', 'v, v'],
  at_most: ['v'],
  divided_by: ['v', '0, true'],
  minus: ['v'],
  modulo: ['v'],
  plus: ['v'],
  times: ['v'],
  round: ['v', '300'],
  strip: ['', long, '"a &<\r\n"'],
  lstrip: ['', '"a &<\r\n"'],
  rstrip: ['', '"a &<\r\n"'],
  slice: ['0, 1000000', '-1', '999999, 1000000'],
  truncate: ['1000000', `50, ${long}`],
  truncatewords: ['1000000', '0, "x"'],
  remove_first: [long, `"b${'a'.repeat(199)}"`],
  replace_first: [`${long}, ${long}`],
  replace: ['"a", "b"', `"b${'a'.repeat(199)}", ""`],
  date: ['', `"${'%A%99N'.repeat(16)}"`, '"%c", "Europe/Berlin"'],
};

const all = Object.keys(engines.html.filters);
const use = (name: string, args: string) => `v | ${name}${args === '' ? '' : `: ${args}`}`;

test.each(all)('the filter %s is on the list of quick ones or makes a program slow', (name) => {
  const listed = quickFilters.has(name);
  const uses = samples[name] ?? [''];
  for (const args of uses) expect(isQuickSource(`{{ ${use(name, args)} }}`)).toBe(listed);
  if (listed) return;
  for (const args of ['"a"', '"a", "b"', 'v'])
    expect(isQuickSource(`{{ ${use(name, args)} }}`)).toBe(false);
});

test('the list names filters that exist', () => {
  expect([...quickFilters.keys()].filter((name) => !all.includes(name))).toEqual([]);
});

const nasty = ['a', ' ', '\n', '\r', '&', '<', '%', '%41', '1', '(', 'ΐ', '漢', '😀'];

/** Milliseconds and the length of what comes out; an error is an answer as well. */
function render(source: string, value: unknown): { ms: number; length: number } {
  const nodes = parseLiquid(source, 'html');
  let length = 0;
  const ms = cpuMs(() => {
    try {
      length = renderNodes('html', nodes, newContext('html', { v: value })).length;
    } catch (error) {
      expect(String(error)).toMatch(/URI malformed|limit exceeded/);
    }
  });
  return { ms, length };
}

const sizeMax = 1024 * 1024;
const list = Array.from({ length: sizeMax / 4 }, (_, at) => `${at}`);

test.each(all.filter((name) => quickFilters.has(name)))(
  '%s takes time and space in proportion to its input',
  (name) => {
    for (const args of samples[name] ?? ['']) {
      const source = `{{ ${use(name, args)} | raw }}`;
      for (const unit of nasty) {
        const value = (size: number) => unit.repeat(Math.ceil(size / unit.length));
        // The machine may stall: one good measurement of three is enough.
        const isLinear = [1, 2, 3].some(() => {
          const whole = render(source, value(sizeMax));
          expect(whole.length).toBeLessThanOrEqual(10 * sizeMax);
          if (whole.ms < 50) return true;
          const half = render(source, value(sizeMax / 2));
          return whole.ms < 1_000 && whole.ms < 3 * half.ms + 50;
        });
        expect({ name, args, unit, isLinear }).toEqual({ name, args, unit, isLinear: true });
      }
      expect(render(source, list).ms).toBeLessThan(2_000);
    }
  },
);
