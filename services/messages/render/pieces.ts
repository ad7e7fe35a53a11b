import {
  IfTag,
  isTruthy,
  type Output,
  type Template,
  type Token,
  TypeGuards,
  toValueSync,
  UnlessTag,
  type Value,
} from 'liquidjs';
import { engines, newQuickContext, renderNodes, type SourcePlace } from '#lib/liquid/engine.ts';
import { childrenOf } from '#lib/liquid/parse.ts';
import { SafeUrlTag, safeUrl } from '#lib/liquid/safe-url.ts';
import { TrackedLinkTag } from '#lib/liquid/tracked-link.ts';
import { checkPart, countRead, type PartState } from './budget.ts';
import { fastFilter } from './filters.ts';

export type MailPiece =
  | { kind: 'text'; text: string }
  | { kind: 'value'; render: (state: PartState) => string }
  | { kind: 'branch'; choose: (state: PartState) => number; arms: MailPiece[][] };

type Evaluate = (state: PartState) => unknown;

interface Compiler {
  place: SourcePlace;
  /** Names that tags set: their values are in the context only. */
  assigned: ReadonlySet<string>;
}

/**
 * Parses Liquid and turns what is simple into closures; any other node renders itself through
 * liquidjs.
 */
export function compilePieces(templates: Template[], place: SourcePlace): MailPiece[] {
  return compileAll(templates, { place, assigned: assignedNames(templates) });
}

export function renderPieces(pieces: MailPiece[], state: PartState): string {
  let text = '';
  for (const piece of pieces) {
    if (piece.kind === 'text') text += piece.text;
    else if (piece.kind === 'value') text += piece.render(state);
    else text += renderPieces(piece.arms[piece.choose(state)] ?? [], state);
    checkPart(state.part, text.length);
  }
  return text;
}

function compileAll(templates: Template[], compiler: Compiler): MailPiece[] {
  const pieces: MailPiece[] = [];
  for (const template of templates) {
    const piece = compileNode(template, compiler);
    const last = pieces.at(-1);
    if (piece.kind === 'text' && last?.kind === 'text') last.text += piece.text;
    else pieces.push(piece);
  }
  return pieces;
}

function compileNode(template: Template, compiler: Compiler): MailPiece {
  if (TypeGuards.isHTMLToken(template.token))
    return { kind: 'text', text: template.token.getContent() };
  if (TypeGuards.isOutputToken(template.token)) return compileOutput(template, compiler);
  if (template instanceof IfTag || template instanceof UnlessTag)
    return compileBranch(template, compiler);
  if (template instanceof SafeUrlTag) {
    const inner = compileAll(template.templates, compiler);
    return { kind: 'value', render: (state) => safeUrl(renderPieces(inner, state)) };
  }
  if (template instanceof TrackedLinkTag) {
    const inner = compileAll(template.templates, compiler);
    return {
      kind: 'value',
      render: (state) => template.write(renderPieces(inner, state), state.scope),
    };
  }
  return { kind: 'value', render: slowly(template, compiler) };
}

function slowly(template: Template, { place }: Compiler): (state: PartState) => string {
  const nodes = [template];
  return (state) => {
    // A copy, because tags such as increment write into the scope, and each part has its own.
    state.context ??= newQuickContext(place, { ...state.scope });
    return renderNodes(place, nodes, state.context);
  };
}

/**
 * Strings go through closures; a value that is anything else is left to liquidjs for this one
 * message.
 */
function compileOutput(template: Template, compiler: Compiler): MailPiece {
  const slow = slowly(template, compiler);
  const value = (template as Output).value;
  const initial = compileOperand(value.initial.postfix, compiler);
  const filters = value.filters.map((filter) => fastFilter(filter.name, filter.args));
  if (initial === undefined || filters.includes(undefined)) return { kind: 'value', render: slow };
  const known = filters.filter((filter) => filter !== undefined);
  return {
    kind: 'value',
    render: (state) => {
      const found = initial(state) ?? '';
      if (typeof found !== 'string') return slow(state);
      let text = found;
      for (const filter of known) {
        countRead(state, text.length);
        text = filter(text);
      }
      return text;
    },
  };
}

function compileBranch(tag: IfTag | UnlessTag, compiler: Compiler): MailPiece {
  const tests: ((state: PartState) => boolean)[] = [];
  const arms: MailPiece[][] = [];
  for (const [index, branch] of tag.branches.entries()) {
    const evaluate = compileCondition(branch.value, compiler);
    if (evaluate === undefined) return { kind: 'value', render: slowly(tag, compiler) };
    const negated = tag instanceof UnlessTag && index === 0;
    tests.push((state) => isSet(evaluate(state), compiler, state) !== negated);
    arms.push(compileAll(branch.templates, compiler));
  }
  arms.push(compileAll(tag.elseTemplates ?? [], compiler));
  return {
    kind: 'branch',
    arms,
    choose: (state) => {
      const index = tests.findIndex((test) => test(state));
      return index < 0 ? tests.length : index;
    },
  };
}

function isSet(value: unknown, { place }: Compiler, state: PartState): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') return true;
  state.context ??= newQuickContext(place, state.scope);
  return isTruthy(value, state.context);
}

function compileCondition(value: Value, compiler: Compiler): Evaluate | undefined {
  if (value.filters.length > 0) return undefined;
  const postfix = value.initial.postfix;
  const steps: (Evaluate | string)[] = [];
  for (const token of postfix) {
    if (TypeGuards.isOperatorToken(token)) steps.push(token.operator);
    else {
      const operand = compileOperand([token], compiler);
      if (operand === undefined) return undefined;
      steps.push(operand);
    }
  }
  const [left, right, operator] = steps;
  if (typeof left !== 'function') return undefined;
  if (steps.length === 1) return left;
  const run = (state: PartState) => runSteps(steps, compiler, state);
  const isEquality = steps.length === 3 && (operator === '==' || operator === '!=');
  if (!isEquality || typeof right !== 'function') return run;
  // Texts are compared here: liquidjs would need a context, and a generator for each comparison.
  return (state) => {
    const [one, other] = [left(state), right(state)];
    if (typeof one !== 'string' || typeof other !== 'string') return run(state);
    return (one === other) === (operator === '==');
  };
}

/** The same stack machine as liquidjs', with its own operators. */
function runSteps(steps: (Evaluate | string)[], { place }: Compiler, state: PartState): unknown {
  state.context ??= newQuickContext(place, state.scope);
  const operators = engines[place].options.operators;
  const stack: unknown[] = [];
  for (const step of steps) {
    if (typeof step !== 'string') stack.push(step(state));
    else {
      const right = stack.pop();
      const operator = operators[step];
      if (step === 'not') stack.push(toValueSync(call(operator, right, state.context)));
      else {
        const left = stack.pop();
        if (step === 'contains' && typeof left === 'string') countRead(state, left.length);
        stack.push(toValueSync(call(operator, left, right, state.context)));
      }
    }
  }
  return stack[0];
}

function call(operator: unknown, ...values: unknown[]): unknown {
  return typeof operator === 'function' ? operator(...values) : undefined;
}

/** Names that mean something on strings and arrays. */
const special = /^(size|first|last|length|\d+)$/;

/**
 * A quoted string, a number, or a path of plain names; undefined for what only liquidjs can
 * evaluate.
 */
function compileOperand(tokens: Token[], { assigned }: Compiler): Evaluate | undefined {
  const [token] = tokens;
  if (tokens.length !== 1 || token === undefined) return undefined;
  if (TypeGuards.isQuotedToken(token) || TypeGuards.isNumberToken(token)) {
    const { content } = token;
    return () => content;
  }
  if (TypeGuards.isLiteralToken(token)) {
    const { content } = token;
    return () => content;
  }
  if (!TypeGuards.isPropertyAccessToken(token) || token.variable !== undefined) return undefined;
  const path: string[] = [];
  for (const prop of token.props) {
    const name =
      TypeGuards.isWordToken(prop) || TypeGuards.isQuotedToken(prop) ? prop.content : undefined;
    if (name === undefined || special.test(name)) return undefined;
    path.push(name);
  }
  const [root] = path;
  return root === undefined || assigned.has(root) ? undefined : readPath(path);
}

function readPath(path: string[]): Evaluate {
  return ({ scope }) => {
    let value: unknown = scope;
    for (const name of path) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
        return undefined;
      value = Reflect.get(value, name);
    }
    return value;
  };
}

/** Names given by assign, capture, increment and decrement anywhere in the part. */
function assignedNames(templates: Template[], names = new Set<string>()): Set<string> {
  for (const template of templates) {
    for (const key of ['key', 'variable']) {
      const name: unknown = Reflect.get(template, key);
      if (typeof name === 'string') names.add(name);
    }
    assignedNames(childrenOf(template), names);
  }
  return names;
}
