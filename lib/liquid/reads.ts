import { type PropertyAccessToken, type Template, type Token, TypeGuards } from 'liquidjs';

type Argument =
  NonNullable<ReturnType<NonNullable<Template['arguments']>>> extends Iterable<infer Each>
    ? Each
    : never;

/** A filter as written: its arguments are values, or names with values. */
export type FilterUse = { name: string; args: readonly (Token | [string?, Token?])[] };

/** An expression with its filters, as outputs, conditions and assignments have one. */
export type Expression = { operands: readonly Token[]; filters: readonly FilterUse[] };

/** The expressions that a node evaluates by itself, without the nodes inside it. */
export function expressionsOf(template: Template): Expression[] {
  // A name without a value, such as `reversed`, comes as undefined.
  const all: Iterable<Argument | undefined> = template.arguments?.() ?? [];
  const given = [...all].filter((argument) => argument !== undefined);
  return given.map((argument) =>
    'initial' in argument
      ? { operands: argument.initial.postfix, filters: argument.filters }
      : { operands: [argument], filters: [] },
  );
}

/**
 * The paths (`contact.first_name`) that an expression reads, also those within other paths'
 * brackets.
 */
export function pathsOf({ operands, filters }: Expression): PropertyAccessToken[] {
  const found: PropertyAccessToken[] = [];
  for (const operand of operands) addPaths(operand, found);
  for (const { args } of filters) for (const value of valuesOf(args)) addPaths(value, found);
  return found;
}

/** The values among a filter's arguments. */
export function valuesOf(args: FilterUse['args']): Token[] {
  return args.flatMap((argument) => (Array.isArray(argument) ? (argument[1] ?? []) : argument));
}

/** The paths that a value reads. */
export function pathsIn(token: Token): PropertyAccessToken[] {
  const found: PropertyAccessToken[] = [];
  addPaths(token, found);
  return found;
}

/** Templates hold tens of thousands of values: no list is made for each. */
function addPaths(token: Token, found: PropertyAccessToken[]): void {
  if (TypeGuards.isRangeToken(token)) {
    addPaths(token.lhs, found);
    addPaths(token.rhs, found);
  }
  if (!TypeGuards.isPropertyAccessToken(token)) return;
  found.push(token);
  if (token.variable) addPaths(token.variable, found);
  for (const prop of token.props) addPaths(prop, found);
}

/** The name of what a path reads from; undefined where that is only known when it is rendered. */
export function rootOf({ variable, props }: PropertyAccessToken): string | undefined {
  return variable === undefined ? nameOf(props[0]) : undefined;
}

/** A plain name of a path; undefined for what is computed, and for numbers. */
export function nameOf(prop: Token | undefined): string | undefined {
  return TypeGuards.isWordToken(prop) || TypeGuards.isQuotedToken(prop) ? prop.content : undefined;
}
