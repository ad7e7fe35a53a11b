import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { type DeclaredEvent, nestedIn, publicEvents } from '#lib/events/contracts.ts';
import { exampleOf } from '#lib/events/example.ts';
import { type Html, html } from '#lib/html/template.ts';
import { bodyExample } from '../openapi/webhooks.ts';
import { commentOf } from '../openapi/words.ts';
import { code, type DocsPage, docsPage, table, words } from './page.ts';

const at = new Date('2026-11-21T09:30:00Z');

/** What each event means and holds, from its contract. */
export function eventsPage(): DocsPage {
  const rows = publicEvents.map(({ type, data }) => [
    html`<a href="#${type}">${code(type)}</a>`,
    words(commentOf(data)),
  ]);
  return docsPage(
    'Events',
    html`<p>A webhook subscription (<code>webhookSubscriptions.create</code>) gets events of its types by POST, each at least once and in no order, as
<code>{"id": "…", "type": "…", "workspace_id": "…", "timestamp": "…", "data": {…}}</code>, signed by Standard Webhooks. <code>timestamp</code> is when it happened, in microseconds, the same in each attempt; of two changes of a contact the later one has the later time.
Data have all fields that are listed here; fields may be added. Programs find the same in <code>webhooks</code> of <a href="/openapi.json">/openapi.json</a>.</p>
${table(['Type', 'When'], rows)}
${publicEvents.map(details)}`,
    'pre { overflow-x: auto; }',
  );
}

function details({ type, since, data }: DeclaredEvent): Html {
  const body = JSON.stringify(bodyExample(type, exampleOf(data, at)), null, 2);
  const rows = [...fieldsOf(data)].map(([path, field]) => [code(path), words(commentOf(field))]);
  return html`<h2 id="${type}">${code(type)}</h2>
<p>${words(commentOf(data))} Since ${since}.</p>
<details><summary>Fields of <code>data</code>, and an example</summary>
${table(['Field', 'Meaning'], rows)}
<pre>${body}</pre>
</details>\n`;
}

/** The fields with values, each with its path. */
function* fieldsOf({ fields }: DescMessage, prefix = ''): Generator<[string, DescField]> {
  for (const field of fields) {
    const path = `${prefix}${field.name}`;
    const nested = nestedIn(field);
    if (nested) yield* fieldsOf(nested, `${path}.`);
    else yield [path, field];
  }
}
