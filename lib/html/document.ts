import type { Stylesheet } from './stylesheet.ts';
import { type Html, html } from './template.ts';

export type DocumentParts = {
  language?: string;
  title: string;
  style: Stylesheet;
  /** More of the head. */
  head?: Html;
  body: Html;
};

/** Keeps browsers from asking for /favicon.ico. The page's policy must allow `data:` images. */
export const noIcon: Html = html`<link rel="icon" href="data:,">`;

/** A whole page. Its policy has to allow the style: `contentSecurityPolicy`. */
export function htmlDocument({ language = 'en', title, style, head, body }: DocumentParts): string {
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>${head ? html`\n${head}` : ''}
<style>${{ html: style.text }}</style>
</head>
<body>
${body}
</body>
</html>
`.html;
}
