import { createHash } from 'node:crypto';
import type { HttpAnswer } from '../http/answer.ts';
import { type Html, html } from './html.ts';

/** The content of a whole page. */
export type LayoutContent = {
  status: number;
  language: string;
  title: string;
  /** The name of the sender of the mail; empty if it is not known. */
  sender: string;
  body: Html;
};

const style = `
:root { color-scheme: light dark; --back: #f4f5f7; --card: #fff; --line: #dfe3e8; --edge: #7b8794; --quiet: #52606d; --focus: #1a56db; }
@media (prefers-color-scheme: dark) {
  :root { --back: #0f1215; --card: #1b2026; --line: #37404a; --edge: #7b8794; --quiet: #a9b4c0; --focus: #8ab4ff; }
}
* { box-sizing: border-box; }
body { background: var(--card); font: 1.0625rem/1.5 system-ui, sans-serif; margin: 0; }
main { margin: 0 auto; max-width: 36rem; padding: 2rem 1.5rem; }
@media (min-width: 40rem) {
  body { background: var(--back); }
  main { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; margin: clamp(2rem, 10vh, 6rem) auto; padding: 3rem; }
}
h1 { font-size: 1.625rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere; text-wrap: balance; }
p { margin: 0 0 1.5rem; overflow-wrap: anywhere; text-wrap: pretty; }
.sender, small { color: var(--quiet); }
.sender { font-weight: 600; margin: 0 0 .5rem; }
.notice { border-left: 4px solid #0e9f6e; padding: .25rem 1rem; }
fieldset { border: 0; margin: 0 0 1.75rem; min-width: 0; padding: 0; }
legend { font-weight: 600; padding: 0; margin-bottom: .75rem; }
.choice { border-top: 1px solid var(--line); cursor: pointer; display: flex; gap: .75rem; overflow-wrap: anywhere; padding: .75rem 0; }
.choice:last-child { border-bottom: 1px solid var(--line); }
.choice:has(:disabled) { color: var(--quiet); cursor: default; }
.choice span { min-width: 0; }
.choice input { accent-color: #1a56db; flex: none; height: 1.375rem; margin: .1rem 0 0; width: 1.375rem; }
.choice small { display: block; font-size: .9375rem; }
.choice small::first-letter { text-transform: uppercase; }
.field { display: block; font-weight: 600; margin: 0 0 1.25rem; }
select { background: var(--card); border: 1px solid var(--edge); border-radius: .5rem; color: inherit; display: block; font: inherit;
  font-weight: 400; margin-top: .25rem; min-height: 3rem; padding: .5rem; width: 100%; }
form > button:last-child { margin-bottom: 0; }
button { background: #1a56db; border: 2px solid #1a56db; border-radius: .5rem; color: #fff; cursor: pointer; font: inherit;
  font-weight: 600; margin: .5rem 0 1rem; min-height: 3rem; padding: .5rem 1.5rem; width: 100%; }
button:hover { background: #1442ae; border-color: #1442ae; }
button.quiet { background: transparent; border-color: var(--edge); color: inherit; }
button.quiet:hover { border-color: currentColor; }
a { color: inherit; display: inline-block; padding: .5rem 0; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 3px; }
`;

const styleHash = createHash('sha256').update(style).digest('base64');

// The page's URL authorizes the recipient, so it must not leak through a referrer, a frame or a
// cache.
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
};

/** A whole page, without script. */
export function pageAnswer({ status, language, title, sender, body }: LayoutContent): HttpAnswer {
  const from = sender === '' ? '' : html`<p class="sender">${sender}</p>`;
  const page = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${{ html: style }}</style>
</head>
<body>
<main>
${from}
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
  return { status, headers, body: page.html };
}

export function paragraph(text: string): Html {
  return html`<p>${text}</p>`;
}

/** A button that posts to the page's own address. */
export function button(text: string): Html {
  return html`<form method="post"><button type="submit">${text}</button></form>`;
}
