import { variables as groups } from '#gen/variables.ts';
import { html } from '#lib/html/template.ts';
import { code, type DocsPage, docsPage, table, words } from './page.ts';

export function variablesPage(): DocsPage {
  return docsPage(
    'Variables',
    html`<p>Processes read their settings from the environment, once, at their start. All that are missing or wrong are named in one message, and names
that nothing reads, such as misspelled ones, in a warning. A secret may also be in a file: the variable with <code>_FILE</code> after its name has the path.
<code>&lt;NAME&gt;</code> is a service in capitals, such as <code>CONTACTS</code>.</p>
${groups.map(
  ({ readBy, variables }) =>
    html`<h2>${readBy}</h2>${table(
      ['Variable', 'Default', ''],
      variables.map(({ name, fallback, about, values, isSecret }) => [
        isSecret ? html`${code(name)} or ${code(`${name}_FILE`)}` : code(name),
        words(fallback),
        words(values === '' ? about : `${about} ${values}.`),
      ]),
    )}`,
)}`,
  );
}
