/** HTML that is safe to send as it is. */
export type InboxHtml = { html: string };

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes every value that is not such HTML itself. */
export function html(
  texts: TemplateStringsArray,
  ...values: (string | number | InboxHtml | InboxHtml[])[]
): InboxHtml {
  const parts = values.map((value, at) => render(value) + (texts[at + 1] ?? ''));
  return { html: (texts[0] ?? '') + parts.join('') };
}

function render(value: string | number | InboxHtml | InboxHtml[]): string {
  if (Array.isArray(value)) return value.map((each) => each.html).join('');
  if (typeof value === 'object') return value.html;
  return String(value).replace(/[&<>"']/g, (character) => entities[character] ?? '');
}
