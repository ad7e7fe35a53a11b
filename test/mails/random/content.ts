import fc from 'fast-check';
import {
  blocks,
  condition,
  counter,
  joined,
  listPath,
  output,
  type Source,
  several,
  silent,
} from './liquid.ts';

/** HTML as it stands in texts of a mail, with Liquid wherever people put it. */

const words = fc.constantFrom(
  'Hello',
  ' ',
  'plain words, and more ',
  '  two  spaces ',
  '\n',
  'Salt &amp; pepper',
  '&nbsp;',
  '5 &lt; 6',
  'quote "x" and it’s',
  "it's",
  '&#39;&copy;',
  '{ single }',
  '📬',
  'שלום',
);

const color = fc.constantFrom(
  '#b4532a',
  'red',
  '{{ color }}',
  '{% if yes %}#0a0{% else %}#a00{% endif %}',
);

/** The value of an attribute that may be any text. */
export const anyValue: Source = fc.oneof(
  fc.constantFrom('', 'a word', 'Salt &amp; pepper', "it's"),
  output,
  joined('x-', output),
  joined(
    '{% if ',
    condition,
    ' %}',
    fc.constantFrom('one', 'two'),
    '{% else %}',
    output,
    '{% endif %}',
  ),
);

export const address: Source = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'https://a.example',
      'https://a.example/?x=1&amp;y=2#f',
      'https://a.example/?x=1&y=2',
      '#top',
      '/path',
      'myapp://open?id=1',
      'cid:logo',
      '//cdn.example/x',
    ),
  },
  {
    weight: 4,
    arbitrary: joined(
      'https://a.example/{{ ',
      fc.constantFrom('a', 'n', 'order.id', 'item.title'),
      fc.constantFrom(' ', ' | url_encode '),
      '}}',
    ),
  },
  {
    weight: 2,
    arbitrary: joined(
      'https://a.example/?q={{ ',
      fc.constantFrom('a', 'b'),
      ' | url_encode }}&amp;n={{ n }}',
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '{{ url }}',
      '{{ item.url }}',
      '{{ order.url }}',
      ' {{ url }} ',
      '{{ url | default: "https://d.example" }}',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'tel:{{ n }}',
      'mailto:{{ contact.email }}',
      'myapp://reset?t={{ a | url_encode }}',
      'webcal://c.example/{{ n }}',
      'geo:{{ n }},2',
      'sms:{{ n }}?body={{ a | url_encode }}',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '{{ unsubscribe_url }}',
      '{{ notification_center_url }}',
      '{{ unsubscribe_url }}?x={{ n }}',
    ),
  },
  {
    weight: 1,
    arbitrary: joined('{% if ', condition, ' %}https://one.example{% else %}{{ url }}{% endif %}'),
  },
  { weight: 1, arbitrary: joined('{{ workspace.base_url }}/{{ n }}') },
);

const inComment: Source = fc.oneof(
  fc.constant('<!-- a note -->'),
  joined('<!-- ', output, ' -->'),
  joined('<!-- ', silent, ' -->'),
);

function elements(inner: Source): Source {
  return fc.oneof(
    joined(
      fc
        .constantFrom('<b>', '<i class="k">', '<span>')
        .chain((open) => joined(open, inner, open.replace(/^<(\w+).*/, '</$1>'))),
    ),
    joined('<span style="color:', color, '">', inner, '</span>'),
    joined('<p>', inner, '</p>'),
    joined('<div title="', anyValue, '">', inner, '</div>'),
    joined('<a href="', address, '">', inner, '</a>'),
    joined("<a class='k' href='", address, "'>", inner, '</a>'),
    joined('<img src="', address, '" alt="', anyValue, '">'),
    joined(
      '<img src="https://a.example/1.png" srcset="{{ url }} 1x, https://a.example/2.png 2x" alt="">',
    ),
    joined(
      '<ul><li>',
      inner,
      '</li>',
      several(joined('<li>', inner, '</li>'), { max: 2 }),
      '</ul>',
    ),
    joined('<pre>', inner, '</pre>'),
    fc.constantFrom('<br>', '<br/>', '<hr>'),
    joined('<div style="display:none">', inner, '</div>'),
    joined('<!--[if mso]>', inner, '<![endif]-->'),
    joined('<!--[if !mso]><!-->', inner, '<!--<![endif]-->'),
  );
}

/** Liquid that stands in comments around what it decides on. */
const commented = (inner: Source): Source =>
  fc.oneof(
    joined('<!-- {% if ', condition, ' %} -->', inner, '<!-- {% endif %} -->'),
    joined(
      '<!-- {% if ',
      condition,
      ' %} -->',
      inner,
      '<!-- {% else %} -->',
      inner,
      '<!-- {% endif %} -->',
    ),
    joined('<!-- {% for item in ', listPath, ' limit: 2 %} -->', inner, '<!-- {% endfor %} -->'),
  );

const leaf: Source = fc.oneof(
  { weight: 5, arbitrary: words },
  { weight: 5, arbitrary: output },
  { weight: 1, arbitrary: counter },
  { weight: 1, arbitrary: silent },
  { weight: 1, arbitrary: inComment },
  { weight: 1, arbitrary: fc.constantFrom('{{ html | raw }}', '{{ item.html | raw }}') },
);

export function contentOf(depth: number): Source {
  if (depth === 0) return several(leaf, { min: 1, max: 3 });
  const inner = contentOf(depth - 1);
  return several(
    fc.oneof(
      { weight: 4, arbitrary: leaf },
      { weight: 3, arbitrary: elements(inner) },
      { weight: 2, arbitrary: blocks(inner) },
      { weight: 1, arbitrary: commented(inner) },
    ),
    { min: 1, max: 3 },
  );
}

const row = (cell: Source) =>
  joined('<tr><td>', cell, '</td><td align="right">', cell, '</td></tr>');

/** Rows of a table, with Liquid around rows. */
export const rows: Source = several(
  fc.oneof(
    row(contentOf(0)),
    blocks(row(contentOf(0))),
    commented(row(contentOf(0))),
    joined(
      '{% tablerow item in ',
      listPath,
      fc.constantFrom('', ' cols: 2'),
      ' %}',
      contentOf(0),
      '{% endtablerow %}',
    ),
  ),
  { min: 1, max: 3 },
);
