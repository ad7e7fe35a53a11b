import { types } from 'pg';

/** The driver's types lack it. */
const textArray: number = 1009;
/** Quoted texts, escapes, arrays in arrays and nulls, which the driver's own parser reads. */
const needsCare = /["\\]|.\{|[{,]null[,}]/i;

/**
 * Has the driver read `text[]` by splitting it: its own way takes ten times as long for the
 * addresses of a slice.
 */
export function readTextArrays(): void {
  const parse: (text: string) => unknown = types.getTypeParser(textArray);
  types.setTypeParser(textArray, (text: string) =>
    needsCare.test(text) || !text.startsWith('{') ? parse(text) : split(text),
  );
}

function split(text: string): string[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',');
}

/**
 * An array as PostgreSQL reads it, of elements that need no quotes: ids, words of our own, numbers
 * and truth values. The driver looks for quotes in each element, which costs more than all else
 * that it does for a long array.
 */
export function plainArray(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}
