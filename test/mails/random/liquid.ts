import fc, { type Arbitrary } from 'fast-check';

/** Liquid of all kinds around whatever stands in a place. Names are those of `values.ts`. */

/** Source for one place of a template. */
export type Source = Arbitrary<string>;

export const joined = (...parts: (Source | string)[]): Source =>
  fc
    .tuple(...parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part)))
    .map((texts) => texts.join(''));

export const several = (part: Source, { min = 0, max = 3 } = {}): Source =>
  fc.array(part, { minLength: min, maxLength: max }).map((texts) => texts.join(''));

/** Texts, and what a list, an object or nothing prints as one. */
export const textPath = fc.constantFrom(
  'a',
  'b',
  'contact.first_name',
  'contact.last_name',
  'order.note',
  'order["id"]',
  'items[0].title',
  'items.last.title',
  'texts[1]',
  'item.title',
  'made',
  'nothing',
  'n',
  'yes',
  'texts',
);
export const listPath = fc.constantFrom('items', 'texts', 'nothing', '(1..n)', 'order.tags');
const numberPath = fc.constantFrom('n', 'items.size', 'a.size', 'forloop.index', 'order.total');

const textFilter = fc.constantFrom(
  'upcase',
  'downcase',
  'capitalize',
  'strip',
  'lstrip',
  'rstrip',
  'escape',
  'escape_once',
  'xml_escape',
  'newline_to_br',
  'strip_html',
  'strip_newlines',
  'squish',
  'normalize_whitespace',
  'slugify',
  'url_encode',
  'url_decode',
  'cgi_escape',
  'uri_escape',
  'base64_encode',
  'base64_url_safe_encode',
  'json',
  'jsonify',
  'inspect',
  'size',
  'number_of_words',
  'sha256',
  'first',
  'last',
  'raw',
  'default: "none"',
  'append: " & more"',
  'prepend: "<"',
  'replace: "a", "<i>"',
  'replace_first: "&", b',
  'remove: " "',
  'truncate: 9',
  'truncatewords: 2, "&hellip;"',
  'slice: 0, 5',
  'split: " " | join: ", "',
  'split: "" | reverse | join: ""',
  'split: "," | compact | uniq | sort | first',
  'date: "%e %B %Y"',
  'hmac_sha256: "key"',
);
const numberFilter = fc.constantFrom(
  'plus: 1',
  'minus: 3',
  'times: 2.5',
  'divided_by: 3',
  'modulo: 2',
  'abs',
  'ceil',
  'floor',
  'round: 1',
  'at_least: 2',
  'at_most: 5',
);
const listFilter = fc.constantFrom(
  'join: ", "',
  'map: "title" | join: " · "',
  'where: "done" | size',
  'sort: "title" | map: "title" | last',
  'reverse | first',
  'concat: texts | join',
  'array_to_sentence_string',
  'sum: "price"',
  'json',
);

const filters = (filter: Source) =>
  several(
    filter.map((each) => ` | ${each}`),
    { max: 2 },
  );

const expression: Source = fc.oneof(
  { weight: 5, arbitrary: joined(textPath, filters(textFilter)) },
  { weight: 2, arbitrary: joined(numberPath, filters(numberFilter)) },
  { weight: 1, arbitrary: joined(listPath, ' | ', listFilter) },
  { weight: 1, arbitrary: fc.constantFrom('"lit & <b>"', "'{{'", '3.10', 'true', 'nil') },
);

const opens = fc.constantFrom('{%', '{%', '{%', '{%', '{%-');
const closes = fc.constantFrom('%}', '%}', '%}', '%}', '-%}');
export const tag = (inner: Source | string): Source => joined(opens, ' ', inner, ' ', closes);

export const output: Source = fc.oneof(
  { weight: 8, arbitrary: joined('{{ ', expression, ' }}') },
  { weight: 1, arbitrary: joined('{{- ', expression, ' -}}') },
  { weight: 1, arbitrary: joined('{% echo ', expression, ' %}') },
);

export const condition: Source = fc.oneof(
  textPath,
  joined(
    textPath,
    fc.constantFrom(' == ', ' != '),
    fc.constantFrom('"x"', 'blank', 'empty', 'b', 'nil'),
  ),
  joined(numberPath, fc.constantFrom(' > ', ' < ', ' >= ', ' == '), fc.constantFrom('1', '3', 'n')),
  joined(textPath, ' contains ', fc.constantFrom('"a"', '"<"', '" "', 'b')),
  joined('yes', fc.constantFrom(' and ', ' or '), textPath),
);

/** Loops run to `n`: thousands of turns reach limits of time, which each path reaches elsewhere. */
const bounded = (assign: string) =>
  assign.startsWith('assign n ') ? `${assign} | at_most: 9` : assign;

/** Tags that print nothing. */
export const silent: Source = fc.oneof(
  tag(
    joined(fc.constantFrom('assign made = ', 'assign n = ', 'assign item = '), expression).map(
      bounded,
    ),
  ),
  joined('{% capture made %}', fc.constantFrom('Hi ', '&amp;', ''), output, '{% endcapture %}'),
  joined('{% capture made %}<b>', output, '</b>{% endcapture %}'),
  fc.constantFrom(
    '{% comment %} a {{ b }} <i> {% endcomment %}',
    '{% # a note %}',
    '{% liquid\nassign made = a | upcase\nif yes\nassign n = 2\nendif %}',
  ),
);

/** Tags that print a little on their own. */
export const counter: Source = fc.constantFrom(
  '{% increment c %}',
  '{% decrement c %}',
  '{% cycle "odd", "even" %}',
  '{% cycle a, b %}',
  '{% raw %}{{ a }}{% endraw %}',
);

/** Blocks of Liquid around what may stand in a place. */
export function blocks(inner: Source): Source {
  return fc.oneof(
    joined(tag(joined('if ', condition)), inner, tag('endif')),
    joined('{% if ', condition, ' %}', inner, '{% else %}', inner, '{% endif %}'),
    joined('{% if ', condition, ' %}', inner, '{% elsif ', condition, ' %}', inner, '{% endif %}'),
    joined('{% unless ', condition, ' %}', inner, '{% else %}', inner, '{% endunless %}'),
    joined(
      '{% case ',
      textPath,
      ' %}{% when "x", "y" %}',
      inner,
      '{% when b %}',
      inner,
      '{% else %}',
      inner,
      '{% endcase %}',
    ),
    joined(
      '{% for item in ',
      listPath,
      fc.constantFrom('', ' limit: 2', ' offset: 1', ' limit: 3 offset: 1'),
      ' %}',
      inner,
      fc.constantFrom(
        '',
        '',
        '{% if forloop.last %}{% break %}{% endif %}',
        '{% if item.done %}{% continue %}{% endif %}',
      ),
      fc.constantFrom('{% endfor %}', '{% else %}{% endfor %}'),
    ),
    joined('{% capture made %}', inner, '{% endcapture %}{{ made | raw }}'),
  );
}
