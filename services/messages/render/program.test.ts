import { expect, test } from '@jest/globals';
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';
import { newContext, renderNodes, type SourcePlace } from '#lib/liquid/engine.ts';
import { parseLiquid } from '#lib/liquid/parse.ts';
import { contactFields } from '#lib/liquid/variables.ts';
import { MessageBuffer } from '../mime/buffer.ts';
import { type MailParts, wholeText } from '../mime/mail.ts';
import { writeMail } from '../mime/write.ts';
import { mailOf } from '../test/mail-of.ts';
import type { Envelope, MailRecipient } from './compose.ts';
import { compileMessage, type MailContent } from './program.ts';

const envelope: Envelope = {
  from: { email: 'news@sender.example', name: 'The News' },
  replyTo: 'answers@sender.example',
  list: { id: 'weekly', name: 'Weekly news' },
  canBeLeft: true,
  feedbackId: ['b1', 'w1', 'broadcast', 'postrider'],
  values: {
    broadcast: { id: 'b1', name: 'November' },
    list: { id: 'weekly', name: 'Weekly news' },
    workspace: { base_url: 'https://mail.example', website_url: '' },
    utm_source: 'newsletter',
  },
  utm: {},
};

const given = (over: Partial<MailRecipient> = {}): MailRecipient => ({
  messageId: '0197f3c0-0000-7000-8000-000000000001',
  email: 'ann@example.com',
  contact: { email: 'ann@example.com', first_name: 'Ann' },
  urls: {
    unsubscribe: 'https://mail.example/u/w1/dG9rZW4',
    preferences: 'https://mail.example/p/w1/dG9rZW4',
    confirm: 'https://mail.example/c/w1/dG9rZW4',
    webVersion: 'https://mail.example/w/w1/c2Vl',
  },
  trackingToken: 'dG9rZW4',
  ...over,
});

const content = (over: Partial<MailContent>): MailContent => ({
  subject: 'Hello',
  html: '<p>Hi</p>',
  mjml: '',
  text: 'Hi',
  ...over,
});

function bytes(mail: MailParts): Buffer {
  const buffer = new MessageBuffer();
  writeMail(buffer, mail);
  const all = Buffer.from(buffer.written());
  expect(all.subarray(-2).toString()).toBe('\r\n');
  return all;
}

const lines = (raw: Buffer) => raw.toString('latin1').split('\r\n');
const newlines = (text: string | undefined) =>
  (text ?? '').replaceAll('\r\n', '\n').replace(/\n+$/, '');

const templates = [
  'plain text',
  '',
  '{{ contact.first_name }}',
  'Hi {{ contact.first_name }}, welcome',
  '{{ contact.first_name }}{{ contact.last_name }}',
  '.{{ contact.first_name }}\n.{{ contact.last_name }}.\n..',
  '{{ contact.first_name | default: "friend" }}',
  "{{ contact.first_name | default: 'its' }}",
  '{{ contact.first_name | upcase }} {{ contact.first_name | downcase }}',
  '{{ contact.first_name | capitalize | strip }}',
  '{{ contact.first_name | strip | append: "!" | prepend: "<" }}',
  '{{ contact.first_name | escape }}',
  '{{ contact.first_name | escape | upcase }}',
  '{{ contact.first_name | raw }}',
  '{{ contact.first_name | url_encode }} {{ contact.last_name | url_encode | upcase }}',
  '{{ contact.first_name | newline_to_br }}',
  '{{ contact.first_name | truncate: 5 }}',
  '{{ contact.first_name | replace: "a", "=" }}',
  '{{ contact.first_name | size }} {{ contact.first_name.size }}',
  '{{ contact.custom_number_1 }} {{ contact.custom_number_1 | plus: 1 }}',
  '{{ contact.custom_json_1 }} {{ contact.custom_json_1.a }}',
  '{{ contact.custom_json_1.list }} {{ contact.custom_json_1.list.first }}',
  '{{ contact["first_name"] }} {{ contact.first_name.length }} {{ contact.__proto__ }} {{ contact.constructor }}',
  '{{ "lite=ral" }} {{ 42 }} {{ nil }} {{ true }} {{ (1..3) }}',
  '{% if contact.first_name %}a{% else %}b{% endif %}',
  '{% if contact.first_name == "Ann" %}yes={{ contact.first_name }}{% elsif contact.last_name == blank %}blank{% else %}no{% endif %}!',
  '{% if contact.first_name == empty %}e{% endif %}{% if contact.last_name == nil %}n{% endif %}',
  '{% if contact.custom_number_1 > 3 and contact.first_name contains "A" %}big{% endif %}',
  '{% if contact.custom_number_1 > 3 or contact.first_name != "Ann" and contact.last_name %}x{% endif %}',
  '{% if contact.first_name | upcase %}up{% endif %}',
  '{% if false %}f{% elsif nil %}n{% elsif 0 %}zero{% endif %}',
  '{% unless contact.first_name == "Ann" %}not Ann{% elsif contact.last_name %}last{% else %}Ann{% endunless %}',
  '{% if contact.custom_json_1.list contains "x" %}has{% endif %}',
  '{% if contact.first_name %}{% if contact.last_name %}{{ contact.last_name }}{% else %}-{% endif %}{% endif %}',
  '{% case contact.first_name %}{% when "Ann" %}A{% else %}{{ contact.first_name }}{% endcase %}',
  '{% assign n = contact.first_name | upcase %}{{ n }} {% if n == "ANN" %}same{% endif %}',
  '{% capture c %}<i>{{ contact.first_name }}</i>{% endcapture %}{{ c }} {{ c | raw }}',
  '{% assign contact = "shadow" %}{{ contact }} {{ contact.first_name }}',
  '{% increment k %}{% increment k %}{{ k }}',
  'a  {{- contact.first_name -}}  b \n {%- if true -%} c {%- endif -%} d',
  '{% comment %}{{ contact.first_name }}{% endcomment %}{% raw %}{{ kept }}{% endraw %}',
  '{{ broadcast.name }} {{ list.id }} {{ utm_source }} {{ message_id }} {{ unsubscribe_url }} {{ workspace.base_url }}',
  'trailing space \nand tab\t\n{{ contact.first_name }} \n',
  'x'.repeat(500),
  `${'é'.repeat(200)}{{ contact.first_name }}${'=.'.repeat(100)}`,
  '{% echo contact.first_name %}{% # a remark %}',
];

const contacts: Record<string, unknown>[] = [
  { first_name: 'Ann', last_name: 'Lee', custom_number_1: 5 },
  {},
  { first_name: '', last_name: null, custom_number_1: 0.5 },
  { first_name: '.hidden', last_name: 'a=b' },
  { first_name: '<b>"Bob" & \'Co\'</b>' },
  { first_name: '漢字かな交じり文', last_name: '👩‍👩‍👧‍👦' },
  { first_name: 'مرحبا بالعالم', last_name: 'ß' },
  { first_name: 'two\nlines \n.and\r\nthree', last_name: ' spaced ' },
  { first_name: 'n'.repeat(300), last_name: '字'.repeat(120) },
  {
    first_name: 7,
    last_name: false,
    custom_number_1: '4',
    custom_json_1: { a: '<x>', list: ['x', '&'] },
  },
  { first_name: ['l', 'i'], last_name: { o: 1 }, custom_json_1: [] },
  { first_name: '{{ contact.email }}', last_name: '\ttab end\t' },
];

function reference(
  source: string,
  place: SourcePlace,
  contact: Record<string, unknown>,
  recipient: MailRecipient,
): string {
  const scope = {
    ...envelope.values,
    contact,
    message_id: recipient.messageId,
    unsubscribe_url: recipient.urls.unsubscribe,
  };
  return renderNodes(place, parseLiquid(source, place), newContext(place, scope));
}

test.each(templates)('the decoded parts are what liquidjs renders: %j', async (template) => {
  const program = compileMessage(
    content({ html: `<p>${template}</p>`, text: `:${template}` }),
    envelope,
  );
  expect(program.slow).toBeUndefined();
  for (const contact of contacts) {
    const recipient = given({ contact });
    const raw = bytes(await mailOf(program, recipient));
    const mail = await PostalMime.parse(raw);
    expect(newlines(mail.html)).toBe(
      newlines(reference(`<p>${template}</p>`, 'html', contact, recipient)),
    );
    expect(newlines(mail.text)).toBe(
      newlines(reference(`:${template}`, 'text', contact, recipient)),
    );
    for (const line of lines(raw)) {
      expect(line.length).toBeLessThanOrEqual(78 + 120);
      expect(line.startsWith('.')).toBe(false);
      expect(line).not.toMatch(/[\n\r\0]|[ \t]$/);
    }
  }
});

test('a message reads the same in two parsers', async () => {
  const program = compileMessage(
    content({
      subject: 'Grüße {{ contact.first_name }}',
      html: '<p>Hä {{ contact.first_name }}</p>',
      text: '',
    }),
    envelope,
  );
  const raw = bytes(await mailOf(program, given({ contact: { first_name: '漢=字' } })));
  const [one, two] = [await PostalMime.parse(raw), await simpleParser(raw)];
  expect(one.subject).toBe('Grüße 漢=字');
  expect(two.subject).toBe(one.subject);
  expect(newlines(one.html)).toBe('<p>Hä 漢=字</p>');
  expect(newlines(two.html === false ? '' : two.html)).toBe(newlines(one.html));
  expect(newlines(one.text)).toBe('Hä 漢=字');
  expect(one.from).toMatchObject({ address: 'news@sender.example', name: 'The News' });
  expect(one.to).toMatchObject([{ address: 'ann@example.com' }]);
  expect(one.replyTo).toMatchObject([{ address: 'answers@sender.example' }]);
  expect(one.messageId).toBe('<0197f3c0-0000-7000-8000-000000000001@sender.example>');
  expect(Date.parse(one.date ?? '')).toBeGreaterThan(Date.now() - 5_000);
  const header = (key: string) => one.headers.find((each) => each.key === key)?.value;
  expect(header('list-unsubscribe')).toBe('<https://mail.example/u/w1/dG9rZW4>');
  expect(header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
  expect(header('list-id')).toBe('Weekly news <weekly.sender.example>');
  expect(header('feedback-id')).toBe('b1:w1:broadcast:postrider');
});

const names = [
  'Ann',
  'O"Brien \\ Co, <x@y>',
  '漢字かな交じり文'.repeat(10),
  '👩‍👩‍👧‍👦 family',
  'مرحبا بالعالم',
  'x'.repeat(300),
  'word '.repeat(60).trim(),
  '=?utf-8?q?fake?=',
];

test.each(names)('a name survives in From, To and Subject: %j', async (name) => {
  const program = compileMessage(content({ subject: '{{ contact.first_name }}' }), {
    ...envelope,
    from: { email: 'a@b.example', name },
  });
  const raw = bytes(await mailOf(program, given({ name, contact: { first_name: name } })));
  const mail = await PostalMime.parse(raw);
  expect(mail.subject).toBe(name);
  expect(mail.from?.name).toBe(name);
  expect(mail.to?.[0]).toMatchObject({ name, address: 'ann@example.com' });
  for (const line of lines(raw)) expect(line.length).toBeLessThanOrEqual(78);
});

test.each(['\r\nBcc: x@evil.example', '\nX-Evil: 1', 'a\0b\u2028Bcc: x', '\r\n\r\nbody'])(
  'a value with line breaks starts no header: %j',
  async (evil) => {
    const program = compileMessage(content({ subject: 'S {{ contact.first_name }}' }), {
      ...envelope,
      from: { email: 'a@b.example', name: `N${evil}` },
      list: { id: `l${evil}`, name: `L${evil}` },
    });
    const mail = await PostalMime.parse(
      bytes(await mailOf(program, given({ name: `T${evil}`, contact: { first_name: evil } }))),
    );
    expect(mail.bcc).toBeUndefined();
    expect(mail.headers.map((header) => header.key)).toEqual([
      'message-id',
      'date',
      'from',
      'to',
      'subject',
      'list-unsubscribe',
      'reply-to',
      'list-unsubscribe-post',
      'list-id',
      'feedback-id',
      'mime-version',
      'content-type',
    ]);
  },
);

test.each([
  ['<a href="{{ contact.first_name }}">', 'javascript:alert(1)', '<a href="#">'],
  ['<a href="{{ contact.first_name }}">', ' JaVaScRiPt:alert(1)', '<a href="#">'],
  [
    '<a href="{{ contact.first_name }}">',
    'https://x.example/?a=1&b="',
    '<a href="https://x.example/?a=1&amp;b=&#34;">',
  ],
  ['<a href="{{ contact.first_name }}">', 'mailto:a@b.example', '<a href="mailto:a@b.example">'],
  [
    '<a href={{ contact.first_name }}>',
    'https://x.example/ onclick=alert(1)',
    '<a href="https://x.example/%20onclick=alert(1)">',
  ],
  ["<img src='{{ contact.first_name | raw }}'>", 'data:text/html,x', "<img src='#'>"],
  [
    '<a href="https://x.example/{{ contact.first_name }}">',
    '"><script>',
    '<a href="https://x.example/&#34;&gt;&lt;script&gt;">',
  ],
  ['<a href="java{{ contact.first_name }}">', 'script:x', '<a href="#">'],
  [
    '<a href="{% if contact.first_name %}{{ contact.first_name }}{% endif %}">',
    'vbscript:x',
    '<a href="#">',
  ],
  [
    '<!--[if mso]><v:rect href="{{ contact.first_name }}"><![endif]-->',
    'file:x',
    '<!--[if mso]><v:rect href="#"><![endif]-->',
  ],
  ['<p title={{ contact.first_name }}>', 'x onclick=y', '<p title="x onclick=y">'],
])('a value in a link cannot lead to a script: %s with %j', async (html, value, expected) => {
  const program = compileMessage(content({ html }), envelope);
  const mail = await PostalMime.parse(
    bytes(await mailOf(program, given({ contact: { first_name: value } }))),
  );
  expect(newlines(mail.html)).toBe(expected);
});

test.each([
  ['a value stands before or behind a text', '{{ contact.last_name }}'],
  ['a link stands before or behind a text', '<a href="{{ contact.last_name }}">x</a>'],
])('a program keeps the structures of its recipients apart where %s', async (_what, inner) => {
  const of = (name: string) =>
    `{% case contact.first_name %}{% when "${name}" %}${inner}{% endcase %}`;
  const program = compileMessage(content({ html: `<p>${of('Ann')} - ${of('Bob')}</p>` }), envelope);
  expect(program.slow).toBeUndefined();
  const htmlFor = async (first_name: string) => {
    const contact = { first_name, last_name: 'https://a.example' };
    return wholeText((await mailOf(program, given({ contact }))).html ?? []);
  };
  const written = inner.replace('{{ contact.last_name }}', 'https://a.example');
  expect(await htmlFor('Ann')).toBe(`<p>${written} - </p>`);
  expect(await htmlFor('Bob')).toBe(`<p> - ${written}</p>`);
});

test('UTM values join static web links that have none', async () => {
  const html =
    '<a href="https://a.example/x">1</a><a href="http://a.example/?q=1&amp;r=2#f">2</a><a href="https://a.example/?utm_source=own">3</a>' +
    '<a href="mailto:x@y.example">4</a><a href="{{ unsubscribe_url }}">5</a><img src="https://a.example/i.png">';
  const program = compileMessage(content({ html }), {
    ...envelope,
    utm: { source: 'n l', medium: '', campaign: 'c' },
  });
  const mail = await PostalMime.parse(bytes(await mailOf(program, given())));
  expect(newlines(mail.html)).toBe(
    '<a href="https://a.example/x?utm_source=n%20l&amp;utm_campaign=c">1</a>' +
      '<a href="http://a.example/?q=1&amp;r=2&amp;utm_source=n%20l&amp;utm_campaign=c#f">2</a>' +
      '<a href="https://a.example/?utm_source=own">3</a><a href="mailto:x@y.example">4</a>' +
      '<a href="https://mail.example/u/w1/dG9rZW4">5</a><img src="https://a.example/i.png">',
  );
});

test('counted links and the pixel carry the token and the number of the link', async () => {
  const html =
    '<body><a href="https://a.example/?x=1&amp;y=2">1</a><a href="https://b.example">2</a></body>';
  const program = compileMessage(content({ html }), {
    ...envelope,
    tracking: { opens: 'https://t.example/t/w1/', clicks: 'https://t.example/r/w1/' },
  });
  const mail = await PostalMime.parse(bytes(await mailOf(program, given())));
  expect(mail.html).toContain(
    '<a href="https://t.example/r/w1/dG9rZW4/0">1</a><a href="https://t.example/r/w1/dG9rZW4/1">2</a>',
  );
  expect(mail.html).toContain('<img src="https://t.example/t/w1/dG9rZW4"');
  expect(program.links).toEqual(['https://a.example/?x=1&y=2', 'https://b.example']);
});

test.each([
  ['{{ contact.first_name }}', ['first_name']],
  [
    '{% if contact.custom_json_1.a == contact.country %}{{ contact["phone"] }}{% endif %}',
    ['phone', 'country', 'custom_json_1'],
  ],
  ['{{ contact.nonsense }} {{ broadcast.name }}', []],
  ['<a href="{{ contact.custom_string_1 }}">', ['custom_string_1']],
  ['{{ contact | json }}', [...contactFields]],
  ['{{ contact[list.id] }}', [...contactFields]],
  ['{% assign c = contact %}{{ c.email }}', [...contactFields]],
  ['{% for i in contact.custom_json_2.items %}{{ i.name }}{% endfor %}', ['custom_json_2']],
])('the program asks for the fields that it reads: %s', (html, fields) => {
  expect(compileMessage(content({ html }), envelope).fields).toEqual(fields);
});

test('broken Liquid is refused when the program is compiled', () => {
  expect(() => compileMessage(content({ html: '{% if x %}' }), envelope)).toThrow(/not closed/);
});

test.each([
  '{% for i in (1..3) %}{{ i }}{% endfor %}',
  '{% if true %}{% tablerow i in (1..3) %}{% endtablerow %}{% endif %}',
  '<p>{% liquid\n echo "x" %}',
  '{{ contact.custom_json_1 | json }}',
  '{{ contact.first_name | no_such_filter }}',
  '{{ contact.custom_string_1 | split: "," | where_exp: "i", "i" }}',
])('a template that may run long is not spliced: %s', (html) => {
  expect(compileMessage(content({ html }), envelope).slow).toBeDefined();
});

test('a link made from a value leads to an app whose scheme the workspace allows', async () => {
  const html =
    '<a href="{{ contact.custom_string_1 }}">one</a> <a href="{{ contact.custom_string_2 }}">two</a>';
  const program = compileMessage(content({ html, text: '' }), { ...envelope, schemes: ['myapp'] });
  const contact = { custom_string_1: 'MyApp:open', custom_string_2: 'other:open' };
  const mail = await mailOf(program, given({ contact }));
  expect(wholeText(mail.html ?? [])).toBe('<a href="MyApp:open">one</a> <a href="#">two</a>');
  expect(wholeText(mail.text)).toContain('one (MyApp:open) two');
});
