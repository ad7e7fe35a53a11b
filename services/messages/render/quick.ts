import { CaptureTag, CaseTag, type Template, type Token, TypeGuards } from 'liquidjs';
import { childrenOf } from '#lib/liquid/parse.ts';
import {
  type Expression,
  expressionsOf,
  nameOf,
  pathsIn,
  pathsOf,
  rootOf,
  valuesOf,
} from '#lib/liquid/reads.ts';
import { addedBy, isQuickFilter, isShortLiteral } from './quick-filters.ts';

const quickTags = new Set(
  'if unless case assign capture comment raw echo increment decrement cycle #'.split(' '),
);
/**
 * Between two nodes the limits of time and memory are looked at; one node must not take long by
 * itself.
 */
const operandsMax = 32;
const filtersMax = 10;
const rangeMax = 1_000;

/**
 * Whether Liquid takes time in proportion to its values, so that a main thread may render it.
 * Loops, includes, unknown tags and filters that are not on the list of quick ones are bounded only
 * by a thread that can be killed.
 */
export function isQuick(templates: Template[]): boolean {
  return areQuick(templates, { grown: new Set(), isCaptured: false });
}

/** Without loops the nodes render in their order, each at most once. */
interface RenderState {
  /**
   * Names whose values were put together from others so far. Building on these again could double a
   * value each time.
   */
  grown: Set<string>;
  isCaptured: boolean;
}

function areQuick(templates: Template[], place: RenderState): boolean {
  return templates.every((template) => isQuickNode(template, place));
}

function isQuickNode(template: Template, place: RenderState): boolean {
  const { token } = template;
  if (TypeGuards.isTagToken(token) && !quickTags.has(token.name)) return false;
  const expressions = expressionsOf(template);
  if (!expressions.every(isQuickExpression) || !growsOnce(expressions, place)) return false;
  if (template instanceof CaseTag) {
    const values = template.branches.flatMap((branch) => branch.values);
    if (!values.every(isShortLiteral)) return false;
  }
  const { grown } = place;
  const isCapture = template instanceof CaptureTag;
  const isCaptured = place.isCaptured || isCapture;
  if (!areQuick(childrenOf(template), { grown, isCaptured })) return false;
  if (isCapture || expressions.some((each) => isGrown(each, grown))) {
    for (const name of template.localScope?.() ?? []) grown.add(name.content);
  }
  return true;
}

function growsOnce(expressions: Expression[], { grown, isCaptured }: RenderState): boolean {
  const added = expressions.flatMap(({ filters }) => filters.flatMap(addedBy).flatMap(pathsIn));
  const read = isCaptured ? expressions.flatMap(pathsOf) : added;
  return !read.some((path) => grown.has(rootOf(path) ?? ''));
}

function isGrown(expression: Expression, grown: ReadonlySet<string>): boolean {
  return (
    expression.filters.some((filter) => addedBy(filter).length > 0) ||
    pathsOf(expression).some((path) => grown.has(rootOf(path) ?? ''))
  );
}

function isQuickExpression(expression: Expression): boolean {
  const { operands, filters } = expression;
  return (
    operands.length <= operandsMax &&
    filters.length <= filtersMax &&
    filters.every(isQuickFilter) &&
    [...operands, ...filters.flatMap(({ args }) => valuesOf(args))].every(isQuickValue) &&
    comparesQuickly(operands)
  );
}

function isQuickValue(token: Token): boolean {
  if (TypeGuards.isRangeToken(token)) {
    const { lhs, rhs } = token;
    if (!TypeGuards.isNumberToken(lhs) || !TypeGuards.isNumberToken(rhs)) return false;
    return rhs.content - lhs.content <= rangeMax;
  }
  if (!TypeGuards.isPropertyAccessToken(token)) return true;
  const { variable, props } = token;
  // A name that is computed may be any name, also one of those that have grown.
  if (variable === undefined && nameOf(props[0]) === undefined) return false;
  return props.every(isQuickValue) && (variable === undefined || isQuickValue(variable));
}

/**
 * Two large values take long to compare, and one in another longer still: one side has to be
 * written in the template.
 */
function comparesQuickly(operands: readonly Token[]): boolean {
  const stack: (Token | 'boolean')[] = [];
  for (const token of operands) {
    if (!TypeGuards.isOperatorToken(token)) {
      stack.push(token);
      continue;
    }
    const sides = [stack.pop(), token.operator === 'not' ? 'boolean' : stack.pop()];
    const isLogic = ['not', 'and', 'or'].includes(token.operator);
    if (!isLogic && !sides.some(isShort)) return false;
    stack.push('boolean');
  }
  return true;
}

function isShort(side: Token | 'boolean' | undefined): boolean {
  return side === undefined || side === 'boolean' || isShortLiteral(side);
}
