import { expect, test } from '@jest/globals';
import { cpuMs } from '../../../test/cpu-time.ts';
import { wholeText } from '../mime/mail.ts';
import { mailOf } from '../test/mail-of.ts';
import type { Envelope, MailRecipient } from './compose.ts';
import { compileMessage } from './program.ts';

const envelope: Envelope = {
  from: { email: 'news@sender.example', name: 'The News' },
  replyTo: '',
  feedbackId: [],
  values: {},
  utm: { source: 'news' },
  tracking: { opens: 'https://t.example/t/w1/', clicks: 'https://t.example/r/w1/' },
};

const recipient = (contact: Record<string, unknown>): MailRecipient => ({
  messageId: '0197f3c0-0000-7000-8000-000000000001',
  email: 'ann@example.com',
  contact,
  urls: { unsubscribe: '', preferences: '', confirm: '', webVersion: '' },
  trackingToken: 'dG9rZW4',
});

const compile = (over: { subject?: string; html?: string; text?: string }) =>
  compileMessage({ subject: 'S', html: '<p>Hi</p>', mjml: '', text: 'Hi', ...over }, envelope);

const large = 'ä'.repeat(1024 * 1024);

test.each([
  ['html', '{{ contact.custom_string_1 | upcase }}'],
  ['html', '{{ contact.custom_string_1 | upcase | size }}'],
  ['html', '{% if contact.first_name %}{{ contact.custom_string_1 | upcase }}{% endif %}'],
  ['html', '{% if contact.custom_string_1 contains "b" %}b{% endif %}'],
  ['html', '{% capture c %}{{ contact.custom_string_1 }}{% endcapture %}'],
  ['html', '{% if contact.first_name | size %}{{ contact.custom_string_1 }}{% endif %}'],
  ['html', '<a href="{{ contact.custom_string_1 }}">x</a>'],
  ['html', '{{ contact.custom_string_1 | truncate: 5 }}'],
  ['text', '{{ contact.custom_string_1 | downcase }}'],
  ['text', '{{ contact.custom_string_1 | truncate: 5 }}'],
])(
  'a message whose %s reads a large value ten thousand times fails at once: %s',
  (part, source) => {
    const program = compile({ [part]: source.repeat(10_000) });
    expect(program.slow).toBeUndefined();
    const to = recipient({ first_name: 'Ann', custom_string_1: large });
    const ms = cpuMs(() =>
      expect(() => program.draft(to)).toThrow(/larger than 1 MiB|takes too long|limit exceeded/),
    );
    expect(ms).toBeLessThan(1_500);
  },
);

test('a subject fails as soon as it is larger than a part may be', () => {
  const program = compile({ subject: '{{ contact.custom_string_1 | upcase }}'.repeat(1_000) });
  const ms = cpuMs(() =>
    expect(() => program.draft(recipient({ custom_string_1: large }))).toThrow(
      'the subject part is larger than 1 MiB',
    ),
  );
  expect(ms).toBeLessThan(1_500);
});

test('many small values do not make a part too large', () => {
  const program = compile({ html: '{{ contact.first_name | upcase }} '.repeat(10_000) });
  expect(() => program.draft(recipient({ first_name: 'Ann' }))).not.toThrow();
});

const sizeMax = 500_000;
const filled = (unit: string) => unit.repeat(Math.ceil(sizeMax / unit.length));

test.each([
  ['Liquid that is never closed', filled('{{')],
  ['tags that are never closed', filled('{%')],
  ['addresses that are never closed', filled('<a href="')],
  ['outputs', filled('{{a}}')],
  ['outputs of fields', filled('{{contact.email}}')],
  ['outputs that end as tags', filled('{{ a %}')],
  ['trimmed outputs', filled('{{- a -}} ')],
  ['assignments', filled('{% assign a=1 %}')],
  ['conditions', filled('{% if a %}{% endif %}')],
  ['nested conditions', filled('{% if a %}')],
  ['branches', `{% if a %}${filled('{% elsif a %}')}{% endif %}`],
  ['addresses with Liquid', filled('<a href="{{a}}">')],
  ['addresses with half of it', filled('<a href="{{">')],
  ['addresses with broken Liquid', filled('<a href="{{ | }}">')],
  ['an address of Liquid that is never closed', `<a href="${filled('{{')}">`],
  ['links', filled('<a href="https://x.example/?a">')],
  ['attributes', `<a ${filled('b="{{a}}" ')}>`],
  ['raw', filled('{% raw %}{{')],
  ['comments', filled('{% comment %}')],
  ['empty lines in a comment', `{% # a${filled('\n')}# %}`],
  ['lines of a liquid tag', `{% liquid ${filled('echo a\n')} %}`],
  ['arguments', `{{ a | append: ${filled('b,')}b }}`],
  ['operands', `{% if ${filled('a==b or ')} a %}{% endif %}`],
  ['names in a case', `{% case a %}{% when ${filled('b,')}c %}{% endcase %}`],
  ['elements in elements', filled('<b>')],
  ['elements that end others', `${'<b>'.repeat(80_000)}${'</i>'.repeat(80_000)}`],
  ['lists in lists', filled('<ul><li>')],
  ['tables in tables', filled('<table><tr><td>')],
  ['HTML comments', filled('<!--')],
  ['marks of the text', filled('\ue000')],
])('half a megabyte of %s is compiled or refused in one go', (_what, html) => {
  const ms = cpuMs(() => {
    try {
      compile({ html, text: '' });
    } catch (error) {
      expect(String(error)).toMatch(
        /not closed|call stack|must start with|expected "\|"|invalid value/,
      );
    }
  });
  // Reading on from each of them to the end takes minutes.
  expect(ms).toBeLessThan(5_000);
});

test('a machine that stops for a moment fails no message', async () => {
  const contact = {
    last_name: 5,
    get first_name() {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
      return 'Ann';
    },
  };
  const program = compile({
    html: '{{ contact.last_name | times: 2 }}{{ contact.first_name }}{{ contact.last_name | times: 3 }}',
  });
  expect(program.slow).toBeUndefined();
  const { html } = await mailOf(program, recipient(contact));
  expect(wholeText(html ?? [])).toContain('10Ann15');
});
