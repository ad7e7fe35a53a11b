/** HTML that needs no escaping. */
export type Html = { readonly html: string };

const entities = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

/** Builds HTML; every value that is not HTML itself is escaped. Attributes must be quoted. */
export function html(
  texts: TemplateStringsArray,
  ...values: (string | number | Html | readonly Html[])[]
): Html {
  const parts = texts.map((text, index) => {
    const value = values[index];
    return value === undefined ? text : text + toHtml(value);
  });
  return { html: parts.join('') };
}

function toHtml(value: string | number | Html | readonly Html[]): string {
  if (typeof value !== 'object') {
    return String(value).replace(/[&<>"']/g, (character) => entities.get(character) ?? character);
  }
  return 'html' in value ? value.html : value.map((each) => each.html).join('');
}
