import { html } from '#lib/html/template.ts';
import { engines, newQuickContext, renderNodes } from '#lib/liquid/engine.ts';
import { parseLiquid } from '#lib/liquid/parse.ts';
import { variables } from '#lib/liquid/variables.ts';
import { filters, internalTags, sample, tags } from './filters.ts';
import { type DocsPage, docsPage, quoted, type Table, table } from './page.ts';

/**
 * The page of Liquid's variables, filters and tags. Results are rendered by the engine that renders
 * mails.
 */
export function liquidPage(): DocsPage {
  return docsPage(
    'Liquid',
    html`<p>Subjects, preview lines, MJML and text parts may hold Liquid. Values are escaped in HTML unless the last filter is
<code>raw</code>, and not in subjects and text. A link that begins with a
value leads to web pages, mail, phones and messages only. Liquid runs first, over all of the MJML; the text part says what the HTML
says. What is not defined is empty; <code>templates.compile</code> warns of it. Times are in UTC.</p>
<h2>Variables</h2>
<p>Transactional mails have every key of <code>data</code> as well, at the top level; the system's own come before them.</p>
${table(templateVariables())}
<h2>Tags</h2>
${table(examplesTable('Tag', tags))}
<h2>Filters</h2>
${filters.map(([topic, some]) => html`<h3>${topic}</h3>${table(examplesTable('Filter', some))}`)}
<h2>The data of the examples</h2>
<pre>${JSON.stringify(sample, undefined, 2)}</pre>`,
  );
}

export function templateVariables(): Table {
  const rows = variables.map(({ name, in: where, about }) => [quoted(name), where, about]);
  return { heads: ['Variable', 'Where', 'Meaning'], rows };
}

export function examplesTable(
  kind: 'Filter' | 'Tag',
  some: readonly (readonly [name: string, source: string])[],
): Table {
  return { heads: [kind, 'Example', 'Result'], rows: some.map(example) };
}

/** Names that a mail may use, and this page does not have. */
export function undocumented(): string[] {
  const documented = new Set(filters.flatMap(([, some]) => some.map(([name]) => name)));
  const knownTags = new Set([...tags.map(([name]) => name), ...internalTags]);
  return [
    ...Object.keys(engines.html.filters).filter((name) => !documented.has(name)),
    ...Object.keys(engines.html.tags).filter((name) => !knownTags.has(name)),
  ];
}

function example([name, source]: readonly [string, string]): string[] {
  const result = renderNodes('html', parseLiquid(source, 'html'), newQuickContext('html', sample));
  return [quoted(name), quoted(source), quoted(result)];
}
