/**
 * An array as PostgreSQL reads it, of elements that need no quotes: ids, words of our own, numbers and truth values. The driver looks for
 * quotes in each element, which costs more than all else that it does for a long array.
 */
export function plainArray(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}
