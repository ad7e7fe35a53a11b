import { type Html, html } from '../html.ts';
import { style } from './style.ts';

/** The pages beside the reference, in the order of their links. */
const pages = [
  ['/', 'Start'],
  ['/docs', 'API reference'],
  ['/docs/liquid', 'Liquid'],
  ['/docs/preview', 'Preview a mail'],
  ['/docs/errors', 'Errors'],
  ['/docs/events', 'Events'],
  ['/docs/limits', 'Limits'],
  ['/docs/variables', 'Variables'],
] as const;

/** A page without script. `more` are styles of its own. */
export function docsPage(title: string, body: Html, more = ''): string {
  return `<!doctype html>\n${
    html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Postrider</title>
<link rel="icon" href="data:,">
<style>${{ html: style + more }}</style>
</head>
<body><main>
${docsLinks}
<h1>${title}</h1>
${body}
</main></body>
</html>
`.html
  }`;
}

/** Leads to all of them. */
export const docsLinks = html`<nav>${pages.map(([path, name]) => html`<a href="${path}">${name}</a> `)}</nav>`;

export const code = (text: string) => html`<code>${text}</code>`;

/** Text with pieces in backquotes as code. */
export function words(text: string): Html {
  const parts = text.split('`').map((part, index) => (index % 2 ? code(part) : html`${part}`));
  return html`${parts}`;
}

export function table(heads: readonly string[], rows: readonly Html[][]): Html {
  return html`<table><thead><tr>${heads.map((head) => html`<th>${head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody></table>`;
}
