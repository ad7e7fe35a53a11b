import { type Token, TypeGuards } from 'liquidjs';
import { type FilterUse, valuesOf } from '#lib/liquid/reads.ts';

/** Longer texts in conditions and filters make searching for them slow. */
const literalMax = 200;
const argumentsMax = 2;

type Rule = (args: FilterUse['args']) => boolean;

const anyValues: Rule = (args) => args.length <= argumentsMax;
const literals: Rule = (args) => anyValues(args) && valuesOf(args).every(isShortLiteral);

/** The text that is searched for is found everywhere if it is empty. */
const search: Rule = (args) => literals(args) && textOf(args[0]) !== '';

/** Never makes a text longer: a chain of such filters could double it each time. */
const exchange: Rule = (args) => search(args) && textOf(args[1]).length <= textOf(args[0]).length;

const textOf = (argument: FilterUse['args'][number] | undefined) =>
  TypeGuards.isQuotedToken(argument) ? argument.content : '';

/** Widths of three digits and more: `%5000000d` writes five million characters. */
const wideFormat = /%[-_0^#:]*\d{3}/;
const format: Rule = (args) => {
  return literals(args) && !wideFormat.test(textOf(args[0]));
};

/**
 * The filters that a main thread may run: each takes time and space in proportion to its input and
 * arguments, which a test measures. All others, and those with other arguments, run in a thread
 * that can be killed.
 */
export const quickFilters: ReadonlyMap<string, Rule> = new Map([
  ...rule(anyValues, 'default append prepend raw size first last'),
  ...rule(anyValues, 'abs at_least at_most ceil divided_by floor minus modulo plus round times'),
  ...rule(literals, 'capitalize downcase upcase strip lstrip rstrip strip_newlines'),
  ...rule(literals, 'escape xml_escape escape_once newline_to_br url_encode url_decode'),
  ...rule(literals, 'slice truncate truncatewords'),
  ...rule(search, 'remove_first replace_first'),
  ...rule(exchange, 'replace'),
  ...rule(format, 'date'),
]);

/** Filters that add an argument to their input. */
const growing = new Set(['append', 'prepend']);

export function isQuickFilter({ name, args }: FilterUse): boolean {
  return quickFilters.get(name)?.(args) ?? false;
}

/**
 * The arguments that a filter appends or prepends, except short literals: their size is known only
 * when rendered.
 */
export function addedBy({ name, args }: FilterUse): Token[] {
  return growing.has(name) ? valuesOf(args).filter((value) => !isShortLiteral(value)) : [];
}

/** A number, `true`, `nil`, `empty` or a short text. */
export function isShortLiteral(token: Token): boolean {
  if (TypeGuards.isQuotedToken(token)) return token.content.length <= literalMax;
  return TypeGuards.isNumberToken(token) || TypeGuards.isLiteralToken(token);
}

function rule(accepts: Rule, names: string): [string, Rule][] {
  return names.split(' ').map((name) => [name, accepts]);
}
