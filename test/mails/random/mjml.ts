import fc from 'fast-check';
import { address, anyValue, contentOf, rows } from './content.ts';
import { blocks, joined, listPath, output, type Source, several, silent } from './liquid.ts';

/** Blocks of MJML, with Liquid in their attributes and around them. */

/** Values of attributes that MJML computes with, or checks; `values.ts` gives valid ones. */
const color = fc.constantFrom(
  '#b4532a',
  '{{ color }}',
  '{% if yes %}#00aa00{% else %}{{ color }}{% endif %}',
  '{{ item.color | default: "#ffffff" }}',
);
const pixels = fc.constantFrom(
  '20px',
  '{{ width }}',
  '{% if n > 3 %}24px{% else %}12px{% endif %}',
  '{{ size }}px',
);
const percent = fc.constantFrom('50%', '{{ share }}%', '{% if yes %}30%{% else %}70%{% endif %}');

/** Some attributes of a list, each at most once. */
const some = (...attributes: Source[]): Source =>
  fc
    .tuple(...attributes.map((each) => fc.option(each, { nil: '', freq: 2 })))
    .map((texts) => texts.map((text) => (text === '' ? '' : ` ${text}`)).join(''));

const valued = (name: string, value: Source): Source => joined(`${name}="`, value, '"');
const styled = some(
  valued('css-class', anyValue),
  valued('padding', pixels),
  fc.constant('mj-class="lead"'),
);

const component: Source = fc.oneof(
  {
    weight: 6,
    arbitrary: joined(
      '<mj-text',
      styled,
      some(valued('color', color), valued('font-size', pixels)),
      '>',
      contentOf(2),
      '</mj-text>',
    ),
  },
  {
    weight: 2,
    arbitrary: joined(
      '<mj-button',
      styled,
      some(valued('background-color', color)),
      ' href="',
      address,
      '">',
      contentOf(1),
      '</mj-button>',
    ),
  },
  {
    weight: 2,
    arbitrary: joined(
      '<mj-image',
      some(valued('width', pixels), valued('href', address), valued('title', anyValue)),
      ' src="',
      address,
      '" alt="',
      anyValue,
      '" />',
    ),
  },
  { weight: 2, arbitrary: joined('<mj-table', styled, '>', rows, '</mj-table>') },
  {
    weight: 1,
    arbitrary: joined(
      '<mj-divider',
      some(valued('border-color', color), valued('border-width', pixels)),
      ' />',
    ),
  },
  { weight: 1, arbitrary: joined('<mj-spacer height="', pixels, '" />') },
  { weight: 1, arbitrary: joined('<mj-raw>', contentOf(1), '</mj-raw>') },
  {
    weight: 1,
    arbitrary: joined(
      '<mj-social>',
      listed(
        joined(
          '<mj-social-element name="github-noshare" href="',
          address,
          '">',
          contentOf(0),
          '</mj-social-element>',
        ),
      ),
      '</mj-social>',
    ),
  },
  {
    weight: 1,
    arbitrary: joined(
      '<mj-navbar',
      some(fc.constant('hamburger="hamburger"'), fc.constant('base-url="https://a.example"')),
      '>',
      listed(joined('<mj-navbar-link href="', address, '">', contentOf(0), '</mj-navbar-link>')),
      '</mj-navbar>',
    ),
  },
  {
    weight: 1,
    arbitrary: joined(
      '<mj-accordion>',
      listed(
        joined(
          '<mj-accordion-element><mj-accordion-title>',
          contentOf(0),
          '</mj-accordion-title><mj-accordion-text>',
          contentOf(1),
          '</mj-accordion-text></mj-accordion-element>',
        ),
      ),
      '</mj-accordion>',
    ),
  },
  {
    weight: 1,
    arbitrary: joined(
      '<mj-carousel>',
      listed(joined('<mj-carousel-image src="', address, '" alt="', anyValue, '" />')),
      '</mj-carousel>',
    ),
  },
);

const note = '\n  <!-- a note -->\n';

/** Elements, some in blocks of Liquid, and Liquid between. */
function listed(element: Source, { max = 3, gap = '\n  ' } = {}): Source {
  return several(
    fc.oneof(
      { weight: 5, arbitrary: element },
      { weight: 3, arbitrary: blocks(element) },
      { weight: 1, arbitrary: silent },
      { weight: 1, arbitrary: fc.constant(gap) },
    ),
    { min: 1, max },
  );
}

const column = joined(
  '<mj-column',
  some(
    valued('width', percent),
    valued('background-color', color),
    valued('border', joined('1px solid ', color)),
  ),
  '>',
  listed(component, { gap: note }),
  '</mj-column>',
);

const section = fc.oneof(
  {
    weight: 6,
    arbitrary: joined(
      '<mj-section',
      styled,
      some(
        valued('background-color', color),
        valued('background-url', address),
        fc.constant('full-width="full-width"'),
        fc.constant('direction="rtl"'),
      ),
      '>',
      listed(column, { max: 2, gap: note }),
      '</mj-section>\n',
    ),
  },
  {
    weight: 1,
    arbitrary: joined(
      '<mj-section><mj-group>',
      listed(column, { max: 2, gap: note }),
      '</mj-group></mj-section>',
    ),
  },
  {
    weight: 1,
    arbitrary: joined(
      '<mj-hero',
      some(valued('background-url', address), valued('background-color', color)),
      '>',
      listed(component, { max: 2, gap: note }),
      '</mj-hero>',
    ),
  },
  { weight: 1, arbitrary: joined('<mj-raw>', contentOf(1), '</mj-raw>') },
);

const wrapper = joined(
  '<mj-wrapper',
  some(valued('background-color', color), valued('padding', pixels)),
  '>',
  listed(section, { max: 2, gap: note }),
  '</mj-wrapper>',
);

export const body: Source = joined(
  '<mj-body',
  some(
    valued('background-color', color),
    valued('width', fc.constantFrom('640px', '{{ page_width }}')),
  ),
  '>\n',
  listed(fc.oneof({ weight: 4, arbitrary: section }, { weight: 1, arbitrary: wrapper })),
  '</mj-body>',
);

const rule = fc.oneof(
  joined('.k { color: ', color, '; }'),
  fc.constantFrom(
    '{% if yes %}.k { font-weight: bold }{% else %}.k { font-style: italic }{% endif %}',
    '{% for item in items %}.k{{ forloop.index }} { color: red }{% endfor %}',
    '@media (max-width: {{ size }}px) { .k { display: none } }',
    '.k > b { margin: {{ width }} }',
  ),
  silent,
);

const headElement: Source = fc.oneof(
  joined(
    '<mj-title>',
    fc.constantFrom('A title', '{{ a }}', 'For {{ contact.first_name | default: "you" }} &amp; co'),
    '</mj-title>',
  ),
  joined(
    '<mj-preview>',
    fc.constantFrom('A line', '{{ b }}', '{% if yes %}Yes{% endif %}'),
    '</mj-preview>',
  ),
  joined(
    '<mj-attributes><mj-text color="',
    color,
    '" /><mj-class name="lead" font-size="',
    pixels,
    '" /></mj-attributes>',
  ),
  joined(
    '<mj-attributes>',
    blocks(joined('<mj-all font-size="', pixels, '" />')),
    '</mj-attributes>',
  ),
  joined('<mj-style>', several(rule, { min: 1 }), '</mj-style>'),
  joined('<mj-style inline="inline">', several(rule, { min: 1 }), '</mj-style>'),
  joined(
    '<mj-raw>',
    fc.oneof(
      joined('<meta name="x" content="', anyValue, '">'),
      joined('<!-- ', silent, ' -->'),
      fc.constant('<!--[if mso]><style>.m { width: {{ width }} }</style><![endif]-->'),
    ),
    '</mj-raw>',
  ),
  fc.constantFrom(
    '<mj-font name="Inter" href="https://fonts.example/inter.css" />',
    '<mj-breakpoint width="400px" />',
    '<mj-html-attributes><mj-selector path=".k"><mj-html-attribute name="data-n">{{ n }}</mj-html-attribute></mj-selector></mj-html-attributes>',
  ),
);

const head: Source = fc.oneof(
  fc.constant(''),
  joined(
    '<mj-head>',
    several(
      fc.oneof(
        { weight: 4, arbitrary: headElement },
        { weight: 1, arbitrary: blocks(headElement) },
        { weight: 1, arbitrary: silent },
      ),
      { max: 3 },
    ),
    '</mj-head>\n',
  ),
);

const before: Source = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: several(joined(silent, '\n'), { min: 1, max: 2 }) },
  {
    weight: 1,
    arbitrary: joined(
      '{% for item in ',
      listPath,
      ' %}{% assign made = item.title %}{% endfor %}\n',
    ),
  },
);

export const mjml: Source = joined(
  before,
  '<mjml',
  fc.constantFrom('', '', ' lang="de"', ' lang="{{ language }}"', ' dir="rtl"'),
  '>',
  head,
  body,
  '</mjml>',
);

export const subject: Source = fc.oneof(
  fc.constant('A subject'),
  joined('Hi ', output),
  joined('{% if yes %}', output, '{% else %}No{% endif %}'),
);
