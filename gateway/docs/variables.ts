import { variables as groups } from '#gen/variables.ts';
import { html } from '#lib/html/template.ts';
import { type DocsPage, docsPage, quoted, type Table, table } from './page.ts';

type Group = (typeof groups)[number];

export function variablesTable({ variables }: Group): Table {
  const rows = variables.map(({ name, fallback, about, values, isSecret }) => [
    isSecret ? `${quoted(name)} or ${quoted(`${name}_FILE`)}` : quoted(name),
    fallback,
    values === '' ? about : `${about} ${values}.`,
  ]);
  return { heads: ['Variable', 'Default', 'Meaning'], rows };
}

export function variablesPage(): DocsPage {
  return docsPage(
    'Variables',
    html`<p>Processes read their settings from the environment, once, at their start. All that are missing or wrong are named in one message, and names
that nothing reads, such as misspelled ones, in a warning. A secret may also be in a file: the variable with <code>_FILE</code> after its name has the path.
<code>&lt;NAME&gt;</code> is a service in capitals, such as <code>CONTACTS</code>.</p>
${groups.map((group) => html`<h2>${group.readBy}</h2>${table(variablesTable(group))}`)}`,
  );
}
