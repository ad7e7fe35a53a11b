import { contentSecurityPolicy } from '#lib/html/content-security-policy.ts';
import { htmlDocument, noIcon } from '#lib/html/document.ts';
import { stylesheet } from '#lib/html/stylesheet.ts';
import { type Html, html } from '#lib/html/template.ts';
import { wideStyle } from '../html/wide-style.ts';

/** A page as text, and its Content-Security-Policy. */
export type DocsPage = { text: string; policy: string };

/** The pages in the order of their links, and what the first one says of the others. */
export const docsPages = [
  ['/', 'Start', ''],
  ['/guide/', 'Guide', 'how to do things, step by step, and how to run it'],
  ['/docs', 'API reference', 'every operation with its limits, errors and examples'],
  ['/docs/liquid', 'Liquid', 'what templates may use'],
  ['/docs/preview', 'Preview a mail', 'shows what a template becomes'],
  ['/docs/errors', 'Errors', 'every code, and what to do'],
  ['/docs/events', 'Events', 'what webhooks tell'],
  ['/docs/limits', 'Limits', 'how much of everything'],
  ['/docs/variables', 'Variables', 'the settings of every process'],
] as const;

/** Leads to all of them. */
export const docsLinks = html`<nav>${docsPages.map(([path, name]) => html`<a href="${path}">${name}</a> `)}</nav>`;

/** A page without script. `rules` are styles of its own. */
export function docsPage(title: string, body: Html, rules = ''): DocsPage {
  const style = stylesheet(wideStyle, rules);
  const text = htmlDocument({
    title: `${title} · Postrider`,
    style,
    head: noIcon,
    body: html`<main>
${docsLinks}
<h1>${title}</h1>
${body}
</main>`,
  });
  return { text, policy: contentSecurityPolicy({ style, images: ['data:'] }) };
}

export const code = (text: string) => html`<code>${text}</code>`;

/** Text with pieces in backquotes as code. */
export function words(text: string): Html {
  const parts = text.split('`').map((part, index) => (index % 2 ? code(part) : html`${part}`));
  return html`${parts}`;
}

/** Cells are texts with code in backquotes, so that the guide shows the same rows in Markdown. */
export type Table = { heads: readonly string[]; rows: readonly (readonly string[])[] };

/** A text as code of a cell. */
export const quoted = (text: string) => `\`${text}\``;

export function table({ heads, rows }: Table): Html {
  return html`<table><thead><tr>${heads.map((head) => html`<th>${head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${words(cell)}</td>`)}</tr>\n`)}</tbody></table>`;
}
