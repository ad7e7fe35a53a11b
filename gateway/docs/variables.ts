import { html } from '#lib/html/template.ts';
import { code, type DocsPage, docsPage, table, words } from './page.ts';
import { variables } from './variable-list.ts';

export function variablesPage(): DocsPage {
  return docsPage(
    'Variables',
    html`<p>Processes read their settings from the environment, once, at their start. All that are missing or wrong are named in one message, and names
that nothing reads, such as misspelled ones, in a warning. A secret may also be in a file: the variable with <code>_FILE</code> after its name has the path.</p>
${variables.map(
  ([processes, rows]) =>
    html`<h2>${processes}</h2>${table(
      ['Variable', 'Default', ''],
      rows.map(({ name, fallback, about, secret }) => [
        secret ? html`${code(name)} or ${code(`${name}_FILE`)}` : code(name),
        html`${fallback}`,
        words(about),
      ]),
    )}`,
)}`,
  );
}
