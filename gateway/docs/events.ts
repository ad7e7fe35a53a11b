import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { type DeclaredEvent, nestedIn, publicEvents } from '#lib/events/contracts.ts';
import { exampleOf } from '#lib/events/example.ts';
import { type Html, html } from '#lib/html/template.ts';
import { bodyExample } from '../openapi/webhooks.ts';
import { commentOf } from '../openapi/words.ts';
import { code, type DocsPage, docsPage, quoted, type Table, table, words } from './page.ts';

const at = new Date('2026-11-21T09:30:00Z');

/** The meaning and fields of each event, from its contract. */
export function eventsPage(): DocsPage {
  return docsPage(
    'Events',
    html`<p>A webhook subscription (<code>webhookSubscriptions.create</code>) gets events of its types by POST, each at least once and in no order, as
<code>{"id": "…", "type": "…", "workspace_id": "…", "timestamp": "…", "data": {…}}</code>, signed by Standard Webhooks. <code>timestamp</code> is when it happened, in microseconds, the same in each attempt; of two changes of a contact the later one has the later time.
Data have all fields that are listed here; fields may be added. Programs find the same in <code>webhooks</code> of <a href="/openapi.json">/openapi.json</a>.</p>
<ul>${publicEvents.map(({ type, data }) => html`<li><a href="#${type}">${code(type)}</a>: ${words(commentOf(data))}</li>\n`)}</ul>
${publicEvents.map(details)}`,
    'pre { overflow-x: auto; }',
  );
}

/** The fields of an event's `data`. */
export function fieldsTable({ data }: DeclaredEvent): Table {
  const rows = [...fieldsOf(data)].map(([path, field]) => [quoted(path), commentOf(field)]);
  return { heads: ['Field', 'Meaning'], rows };
}

/** A whole callback of an event, as JSON. */
export function callbackExample({ type, data }: DeclaredEvent): string {
  return JSON.stringify(bodyExample(type, exampleOf(data, at)), null, 2);
}

function details(event: DeclaredEvent): Html {
  const { type, since, data } = event;
  return html`<h2 id="${type}">${code(type)}</h2>
<p>${words(commentOf(data))} Since ${since}.</p>
<details><summary>Fields of <code>data</code>, and an example</summary>
${table(fieldsTable(event))}
<pre>${callbackExample(event)}</pre>
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
