import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import fc, { type Arbitrary } from 'fast-check';
import { nastyTexts, nastyUrls } from '../nasty.ts';

/** Values for the names that random templates read. */

const text: Arbitrary<JsonValue> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...nastyTexts) },
  { weight: 2, arbitrary: fc.constantFrom('x', 'Ann', 'Ann Lee', 'a < b & c') },
  {
    weight: 1,
    // PostgreSQL keeps no NUL.
    arbitrary: fc
      .string({ unit: 'binary', maxLength: 12 })
      .map((each) => each.replaceAll('\0', '')),
  },
  { weight: 1, arbitrary: fc.constantFrom<JsonValue>(null, true, false, 0, -1.5, 1e21, 2 ** 53) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<JsonValue>([], {}, ['<b>', 'two'], { no: 1 }, [[1], [null, 'x']]),
  },
);
const url: Arbitrary<JsonValue> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...nastyUrls) },
  { weight: 1, arbitrary: text },
);
/** Of an author, a feed or an editor: what `raw` is for. */
const html = fc.constantFrom(
  '<p>First</p><p>Second &amp; <a href="https://f.example/?a=1&amp;b=2">link</a></p>',
  'plain',
  '',
  '<b>open <i>twice',
  '</div></td>',
  '<ul><li>One<li>Two</ul>',
  '<img src=\'https://f.example/1.png\' alt="A &quot;b&quot;"><br>',
  '<!-- a note --><span style="white-space:nowrap">a  b</span>',
  'Tom & Co, 1 < 2',
);
const color = fc.constantFrom('#b4532a', '#fff', 'red', 'rgb(1,2,3)');

const item = fc.record({ title: text, url, html, color, price: fc.nat(50), done: fc.boolean() });

/** The values of one recipient. Any name may be missing, except those that MJML computes with. */
export const values: Arbitrary<JsonObject> = fc.record(
  {
    a: text,
    b: text,
    n: fc.oneof(fc.integer({ min: -2, max: 6 }), fc.constant(2.5)),
    yes: fc.oneof(fc.boolean(), text),
    url,
    html,
    color,
    width: fc.constantFrom('12px', '100px'),
    size: fc.integer({ min: 1, max: 90 }),
    share: fc.integer({ min: 10, max: 90 }),
    page_width: fc.constantFrom('500px', '600px', '720px'),
    language: fc.constantFrom('en', 'de', 'pt-BR'),
    items: fc.array(item, { maxLength: 3 }),
    texts: fc.array(text, { maxLength: 3 }),
    order: fc.record({
      id: text,
      note: text,
      url,
      total: fc.nat(900),
      tags: fc.array(text, { maxLength: 2 }),
    }),
    contact: fc.record(
      {
        first_name: text,
        last_name: text,
        email: fc.constantFrom('ann@example.com', 'a+b@example.com'),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['color', 'width', 'size', 'share', 'page_width', 'language'] },
);
