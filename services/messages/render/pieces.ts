import {
  type Emitter,
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
import { engines, newQuickContext, renderInto, type SourcePlace } from '#lib/liquid/engine.ts';
import { type NodePlace, rawValue } from '#lib/liquid/markup.ts';
import { isRaw, type ValueEmitter } from '#lib/liquid/output.ts';
import { childrenOf } from '#lib/liquid/parse.ts';
import type { Marker } from '#lib/mail/marker.ts';
import { checkPart, countRead, type PartState } from './budget.ts';
import { fastFilter } from './filters.ts';

export type MailPiece =
  | { kind: 'text'; text: string }
  | { kind: 'value'; write: (state: PartState, emitter: Emitter) => void }
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

/** The text of pieces that were compiled for text. */
export function renderPieces(pieces: readonly MailPiece[], state: PartState): string {
  const emitter = new TextEmitter(state);
  run(pieces, state, emitter);
  return emitter.buffer;
}

/** Collects what pieces write that were compiled for HTML. */
export function markPieces(pieces: readonly MailPiece[], state: PartState, marker: Marker): void {
  for (const piece of pieces) {
    if (piece.kind === 'text') marker.text(piece.text);
    else if (piece.kind === 'value') piece.write(state, marker);
    else {
      const arm = piece.choose(state);
      marker.way(arm);
      markPieces(piece.arms[arm] ?? [], state, marker);
    }
  }
}

function run(pieces: readonly MailPiece[], state: PartState, emitter: Emitter): void {
  for (const piece of pieces) {
    if (piece.kind === 'text') emitter.write(piece.text);
    else if (piece.kind === 'value') piece.write(state, emitter);
    else run(piece.arms[piece.choose(state)] ?? [], state, emitter);
  }
}

class TextEmitter implements Emitter {
  buffer = '';
  readonly #state: PartState;

  constructor(state: PartState) {
    this.#state = state;
  }

  write(text: unknown): void {
    this.buffer += String(text ?? '');
    checkPart(this.#state.part, this.buffer.length);
  }
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
  return { kind: 'value', write: slowly(template, compiler) };
}

function slowly(
  template: Template,
  { place }: Compiler,
): (state: PartState, emitter: Emitter) => void {
  const nodes = [template];
  return (state, emitter) => {
    // A copy, because tags such as increment write into the scope, and each part has its own.
    state.context ??= newQuickContext(place, { ...state.scope });
    renderInto(emitter, place, { nodes, context: state.context });
  };
}

/**
 * Strings go through closures; a value that is anything else is left to liquidjs for this one
 * message.
 */
function compileOutput(template: Template, compiler: Compiler): MailPiece {
  const slow = slowly(template, compiler);
  const { value, token } = template as Output;
  const initial = compileOperand(value.initial.postfix, compiler);
  const filters = value.filters.map((filter) => fastFilter(filter.name, filter.args));
  if (initial === undefined || filters.includes(undefined)) return { kind: 'value', write: slow };
  const known = filters.filter((filter) => filter !== undefined);
  const emit = emitterOf(compiler.place, isRaw(value), token);
  return {
    kind: 'value',
    write: (state, emitter) => {
      const found = initial(state) ?? '';
      if (typeof found !== 'string') {
        slow(state, emitter);
        return;
      }
      let text = found;
      for (const filter of known) {
        countRead(state, text.length);
        text = filter(text);
      }
      emit(text, emitter);
    },
  };
}

/** How a value is written: told apart from the author's text in HTML. */
function emitterOf(place: SourcePlace, raw: boolean, token: NodePlace) {
  if (place === 'text') return (text: string, emitter: Emitter) => emitter.write(text);
  return raw
    ? (text: string, emitter: Emitter) => (emitter as ValueEmitter).markup(rawValue(text), token)
    : (text: string, emitter: Emitter) => (emitter as ValueEmitter).value(text, token);
}

function compileBranch(tag: IfTag | UnlessTag, compiler: Compiler): MailPiece {
  const tests: ((state: PartState) => boolean)[] = [];
  const arms: MailPiece[][] = [];
  for (const [index, branch] of tag.branches.entries()) {
    const evaluate = compileCondition(branch.value, compiler);
    if (evaluate === undefined) return { kind: 'value', write: slowly(tag, compiler) };
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
