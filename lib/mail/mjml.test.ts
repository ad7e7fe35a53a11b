import { expect, test } from '@jest/globals';
import { mjmlToHtml } from './mjml.ts';

const named = (font: string, head = '') =>
  `<mjml><mj-head>${head}</mj-head><mj-body><mj-section><mj-column><mj-text font-family="${font}">x</mj-text></mj-column></mj-section></mj-body></mjml>`;

const fontsOf = async (mjml: string) =>
  (await mjmlToHtml(mjml)).html.match(/https:\/\/[a-z.]+\/css[^"')]*/g) ?? [];

test('a font that one mail brings is loaded in no other mail', async () => {
  const own = '<mj-font name="Arial" href="https://evil.example/css" />';
  expect(await fontsOf(named('Arial', own))).toContain('https://evil.example/css');
  expect(await fontsOf(named('Arial'))).toEqual([]);
});

test('a font is loaded from its host only where the author names it', async () => {
  expect(await fontsOf(named('Arial'))).toEqual([]);
  for (const font of ['Roboto', 'Ubuntu']) {
    expect(await fontsOf(named(font))).toContain(
      `https://fonts.googleapis.com/css?family=${font}:300,400,500,700`,
    );
  }
});

test('CSS is inlined also between braces, which are text', async () => {
  const style = '<mj-style inline="inline">.a { color: red }</mj-style>';
  const text = '<mj-text>{{ <b class="a">x</b> }}</mj-text>';
  const { html } = await mjmlToHtml(
    `<mjml><mj-head>${style}</mj-head><mj-body><mj-section><mj-column>${text}</mj-column></mj-section></mj-body></mjml>`,
  );
  expect(html).toContain('{{ <b class="a" style="color: red;">x</b> }}');
});

test.each(['', '<mj-style inline="inline">div { margin: 0 }</mj-style>'])(
  'the preview line is hidden, and neither tiny nor white as the text of spam is (%s)',
  async (style) => {
    const { html } = await mjmlToHtml(
      `<mjml><mj-head><mj-preview>Soon</mj-preview>${style}</mj-head><mj-body background-color="#ffffff"></mj-body></mjml>`,
    );
    const [, declarations] = /<div style="([^"]*)">Soon</.exec(html) ?? [];
    expect(declarations).toMatch(/display: ?none;/);
    expect(declarations).not.toMatch(/color|font-size/);
    expect(html).toContain('background-color:#ffffff');
  },
);
