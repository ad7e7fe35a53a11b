import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { html } from '#lib/html/template.ts';
import { type DocsPage, docsPage, docsPages } from './page.ts';

/** The same five calls in three languages; test/tour/quickstart.test.ts runs them. */
const programs = [
  ['curl', 'quickstart.sh', 'sh quickstart.sh'],
  ['TypeScript', 'quickstart.ts', 'node quickstart.ts'],
  ['Python', 'quickstart.py', 'python3 quickstart.py'],
] as const;

const rules = `
pre { background: var(--card); border: 1px solid var(--line); margin: 0; overflow: auto; padding: .75rem; }
details { margin: 0 0 1rem; }
summary { cursor: pointer; font-weight: 600; padding: .5rem 0; }
`;

const [, ...others] = docsPages;
const placeList = [
  ...others,
  ['/openapi.json', 'openapi.json', 'OpenAPI 3.1, for programs'] as const,
].map(([path, name, about]) => html`<li><a href="${path}">${name}</a>: ${about}</li>`);

/** The first page: what this is, where to go, and the quickstart. */
export function startPage(): DocsPage {
  return docsPage(
    'Postrider',
    html`<p>Sends transactional mail, newsletters and A/B-tested broadcasts, and reports every event by signed webhooks.</p>
<ul>${placeList}</ul>
<h2>Five calls to the first mail</h2>
<p>On the machine that runs <code>npm start</code>, take the key and the addresses into your shell. The mail is then in the inbox that
<code>echo $INBOX_URL</code> names. Elsewhere set <code>BASE_URL</code>, <code>TOKEN</code> and <code>WORKSPACE_ID</code> yourself.</p>
<pre>set -a; . .postrider/env; set +a</pre>
${programs.map(
  ([language, file, command], index) => html`
<details${{ html: index === 0 ? ' open' : '' }}><summary>${language}</summary>
<p><a href="/quickstart/${file}" download>${file}</a>: <code>${command}</code></p>
<pre>${programText(file)}</pre>
</details>`,
)}`,
    rules,
  );
}

/** The programs by their paths. */
export function quickstartPrograms(): [path: string, text: string][] {
  return programs.map(([, file]) => [`/quickstart/${file}`, programText(file)]);
}

function programText(file: string): string {
  return readFileSync(join(import.meta.dirname, 'quickstart', file), 'utf8');
}
