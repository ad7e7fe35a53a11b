import { expect, test } from '@jest/globals';
import { mjmlToHtml } from '#lib/mail/mjml.ts';
import { cpuMs } from '../../../test/cpu-time.ts';
import { withPreviewLine } from './preview-line.ts';

const own = '{% if subject_preview_line %}';
const value = '{{ subject_preview_line }}';

test.each([
  [
    'HTML with a line',
    '<body class="a"><div style="display:none;b">Old {{ a }}</div>Text</body>',
    `<body class="a"><div style="display:none;b">${own}${value}{% else %}Old {{ a }}{% endif %}</div>Text</body>`,
  ],
  [
    'MJML with a line',
    '<mjml><mj-head><mj-preview>Old</mj-preview></mj-head></mjml>',
    `<mjml><mj-head><mj-preview>${own}${value}{% else %}Old{% endif %}</mj-preview></mj-head></mjml>`,
  ],
  [
    'MJML with a head',
    '<mjml><mj-head><mj-title>T</mj-title></mj-head></mjml>',
    `<mjml><mj-head>${own}<mj-preview>${value}</mj-preview>{% endif %}<mj-title>T</mj-title></mj-head></mjml>`,
  ],
  [
    'MJML without a head',
    '<mjml lang="en"><mj-body></mj-body></mjml>',
    `<mjml lang="en"><mj-head>${own}<mj-preview>${value}</mj-preview>{% endif %}</mj-head><mj-body></mj-body></mjml>`,
  ],
  ['anything else', '<p>Hi</p>', '<p>Hi</p>'],
])('the preview line of a message goes into %s', (_, source, lined) => {
  expect(withPreviewLine(source)).toBe(lined);
});

test.each([
  ['no inlined CSS', ''],
  ['inlined CSS of another element', 'p { color: #ff0000 }'],
  ['inlined CSS behind the line', 'div { color: #ff0000 }'],
  ['inlined CSS before the line', 'body > div { margin: 0 }'],
  ['inlined CSS that replaces the style', 'div { display: none !important; margin: 0 }'],
])('compiled MJML with a line and %s shows one line, that of the message', async (_, css) => {
  const style = css === '' ? '' : `<mj-style inline="inline">${css}</mj-style>`;
  const { html } = await mjmlToHtml(
    `<mjml><mj-head><mj-preview>Old</mj-preview>${style}</mj-head><mj-body></mj-body></mjml>`,
  );
  const lined = withPreviewLine(html);
  expect(lined.split(value)).toHaveLength(2);
  expect(lined).toContain(`${own}${value}{% else %}Old{% endif %}</div>`);
});

test('HTML without a preview line gets a hidden one for messages that have their own', () => {
  const lined = withPreviewLine('<body><p>Hi</p></body>');
  expect(lined).toContain(`<body>${own}<div style="display:none;`);
  expect(lined).toContain(`${value}</div>{% endif %}<p>Hi</p>`);
});

test.each(['<body ', '<mj-preview ', '<mj-head ', '<mjml ', '<mj-head/', '<mj-preview/>'])(
  'half a megabyte of %s is read in one go',
  (unit) => {
    const source = unit.repeat(500_000 / unit.length);
    const ms = cpuMs(() => {
      withPreviewLine(source);
      withPreviewLine(`${source}>`);
    });
    expect(ms).toBeLessThan(500);
  },
);
