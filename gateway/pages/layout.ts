import { createHash } from 'node:crypto';
import type { Answer } from '../answer.ts';

/** What a page says. The texts are ours, but are escaped all the same. */
export type Content = { status: number; title: string; text: string; button?: string };

const style = `
:root { color-scheme: light dark; }
body { font: 1.125rem/1.5 system-ui, sans-serif; margin: 0; }
main { margin: 12vh auto 0; max-width: 30rem; padding: 0 1.5rem; }
h1 { font-size: 1.5rem; line-height: 1.25; }
button { background: #1a56db; border: 0; border-radius: .5rem; color: #fff; font: inherit;
  font-weight: 600; min-height: 3rem; padding: .5rem 1.5rem; width: 100%; }
button:focus-visible { outline: 3px solid #f59e0b; outline-offset: 3px; }
`;

const styleHash = createHash('sha256').update(style).digest('base64');

// The address of the page is the proof of who acts, so it must not leave by a referrer, a frame or a cache.
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
};

export function pageAnswer({ status, title, text, button }: Content): Answer {
  const form = button
    ? `<form method="post"><button type="submit">${escapeHtml(button)}</button></form>`
    : '';
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
${form}
</main>
</body>
</html>
`;
  return { status, headers, body };
}

const entities = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities.get(character) ?? character);
}
