export function escapeHtml(value: unknown): string {
  const text = typeof value === 'string' ? value : stringify(value);
  return /[&<>"']/.test(text)
    ? text.replace(/[&<>"']/g, (character) => entities.get(character) ?? '')
    : text;
}

const entities = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&#34;'],
  ["'", '&#39;'],
]);

function stringify(value: unknown): string {
  if (value === undefined || value === null) return '';
  return Array.isArray(value) ? value.map(stringify).join('') : String(value);
}

/** Escapes everything except existing entities. */
export function escapeOnce(value: unknown): string {
  return escapeHtml(
    stringify(value).replace(
      /&(amp|lt|gt|quot|#34|#39);/g,
      (entity) => plain.get(entity) ?? entity,
    ),
  );
}

const plain = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&#34;', '"'],
  ['&#39;', "'"],
]);
