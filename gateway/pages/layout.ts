import { type Allowed, contentSecurityPolicy } from '#lib/html/content-security-policy.ts';
import { htmlDocument } from '#lib/html/document.ts';
import { stylesheet } from '#lib/html/stylesheet.ts';
import { type Html, html } from '#lib/html/template.ts';
import { secretPageHeaders } from '../html/headers.ts';
import type { HttpAnswer } from '../http/answer.ts';

export type LayoutContent = {
  status: number;
  language: string;
  title: string;
  /** The name of the sender of the mail; empty if it is not known. */
  sender: string;
  body: Html;
  /** For a page with scripts: its head, and what its policy allows. */
  scripted?: { head: Html; allowed: Allowed };
};

const style = stylesheet(`
body { background: var(--card); font: 1.0625rem/1.5 system-ui, sans-serif; }
main { margin: 0 auto; max-width: 36rem; padding: 2rem 1.5rem; }
@media (min-width: 40rem) {
  body { background: var(--back); }
  main { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; margin: clamp(2rem, 10vh, 6rem) auto; padding: 3rem; }
}
h1 { font-size: 1.625rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere; text-wrap: balance; }
p { margin: 0 0 1.5rem; overflow-wrap: anywhere; text-wrap: pretty; }
.sender, small { color: var(--quiet); }
.sender { font-weight: 600; margin: 0 0 .5rem; }
.notice { border-left: 4px solid var(--good); padding: .25rem 1rem; }
fieldset { border: 0; margin: 0 0 1.75rem; min-width: 0; padding: 0; }
legend { font-weight: 600; padding: 0; margin-bottom: .75rem; }
.choice { border-top: 1px solid var(--line); cursor: pointer; display: flex; gap: .75rem; overflow-wrap: anywhere; padding: .75rem 0; }
.choice:last-child { border-bottom: 1px solid var(--line); }
.choice:has(:disabled) { color: var(--quiet); cursor: default; }
.choice span { min-width: 0; }
.choice input { accent-color: var(--action); flex: none; height: 1.375rem; margin: .1rem 0 0; width: 1.375rem; }
.choice small { display: block; font-size: .9375rem; }
.choice small::first-letter { text-transform: uppercase; }
.field { display: block; font-weight: 600; margin: 0 0 1.25rem; }
select { background: var(--card); border: 1px solid var(--edge); border-radius: .5rem; color: inherit; display: block; font: inherit;
  font-weight: 400; margin-top: .25rem; min-height: 3rem; padding: .5rem; width: 100%; }
form > button:last-child { margin-bottom: 0; }
button { background: var(--action); border: 2px solid var(--action); border-radius: .5rem; color: var(--on-action); cursor: pointer; font: inherit;
  font-weight: 600; margin: .5rem 0 1rem; min-height: 3rem; padding: .5rem 1.5rem; width: 100%; }
button:hover { background: var(--action-hover); border-color: var(--action-hover); }
button.quiet { background: transparent; border-color: var(--edge); color: inherit; }
button.quiet:hover { border-color: currentColor; }
.stuck { animation: late 0s 2s backwards; }
@keyframes late { from { visibility: hidden; } }
altcha-widget:defined ~ .stuck { display: none; }
altcha-widget { --altcha-color-base: var(--card); --altcha-max-width: 100%; display: block; margin: 0 0 1.5rem; }
a { color: inherit; display: inline-block; padding: .5rem 0; }
`);

const allowed = { style, forms: "'self'" } as const;
const headersOf = (more: Allowed) =>
  secretPageHeaders(contentSecurityPolicy({ ...allowed, ...more }));
const plainHeaders = headersOf({});

/** A whole page, without script unless it says so. */
export function pageAnswer(content: LayoutContent): HttpAnswer {
  const { status, language, title, sender, body, scripted } = content;
  const headers = scripted ? headersOf(scripted.allowed) : plainHeaders;
  const from = sender === '' ? '' : html`<p class="sender">${sender}</p>`;
  const main = html`<main>
${from}
<h1>${title}</h1>
${body}
</main>`;
  const parts = { language, title, style, body: main, ...(scripted && { head: scripted.head }) };
  return { status, headers, body: htmlDocument(parts) };
}

export function paragraph(text: string): Html {
  return html`<p>${text}</p>`;
}

/** A button that posts to the page's own address. */
export function button(text: string): Html {
  return html`<form method="post"><button type="submit">${text}</button></form>`;
}
