export function escapeHtml(value: unknown): string {
  const text = typeof value === 'string' ? value : textOfValue(value);
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

/** A value as text: lists without separators, objects as JSON. */
export function textOfValue(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(textOfValue).join('');
  return isPlainObject(value) ? JSON.stringify(value) : String(value);
}

/** Whether a value is an object of names and values, or a list that has one. */
export function isObjectValue(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isObjectValue) : isPlainObject(value);
}

function isPlainObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Escapes everything except existing entities. */
export function escapeOnce(value: unknown): string {
  return escapeHtml(
    textOfValue(value).replace(
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
