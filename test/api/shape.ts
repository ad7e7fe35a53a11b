/** The kind of a JSON value: `time` for timestamps, the first element for arrays. */
export function shapeOf(value: unknown): unknown {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length > 0 ? [shapeOf(value[0])] : [];
  if (typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shapeOf(part)]));
  }
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return 'time';
  return typeof value;
}
