import { TypeGuards } from 'liquidjs';

type TextFilter = (value: string) => string;

/**
 * Filters of a string without arguments; liquidjs' own are the reference that tests compare with.
 */
const plain = new Map<string, TextFilter>([
  ['upcase', (value) => value.toUpperCase()],
  ['downcase', (value) => value.toLowerCase()],
  ['capitalize', (value) => value.charAt(0).toUpperCase() + value.slice(1).toLowerCase()],
  ['strip', (value) => value.trim()],
  ['lstrip', (value) => value.trimStart()],
  ['rstrip', (value) => value.trimEnd()],
  ['raw', (value) => value],
  ['url_encode', (value) => encodeURIComponent(value).replace(/%20/g, '+')],
]);

/** Filters with one literal string. */
const withText = new Map<string, (argument: string) => TextFilter>([
  ['default', (fallback) => (value) => (value === '' ? fallback : value)],
  ['append', (end) => (value) => value + end],
  ['prepend', (start) => (value) => start + value],
]);

/** The filter as a closure, if its name and arguments are among the simple ones. */
export function fastFilter(name: string, args: readonly unknown[]): TextFilter | undefined {
  if (args.length === 0) return plain.get(name);
  const [argument] = args;
  if (args.length > 1 || !TypeGuards.isQuotedToken(argument)) return undefined;
  return withText.get(name)?.(argument.content);
}
