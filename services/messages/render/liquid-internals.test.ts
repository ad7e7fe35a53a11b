import { expect, test } from '@jest/globals';
import {
  AssignTag,
  CaptureTag,
  CaseTag,
  Context,
  IfTag,
  IncrementTag,
  Output,
  Parser,
  type Template,
  TypeGuards,
  UnlessTag,
} from 'liquidjs';
import { engines } from '#lib/liquid/engine.ts';
import { escapeHtml } from '#lib/liquid/escape.ts';
import { isRaw } from '#lib/liquid/output.ts';
import { childrenOf, parseLiquid } from '#lib/liquid/parse.ts';
import { expressionsOf } from '#lib/liquid/reads.ts';

/**
 * The fast path reads nodes that liquidjs has parsed. These parts of them are no documented
 * interface: a test that is red after an upgrade names the part that changed, and the comparison in
 * program.test.ts shows what it breaks.
 */

type OutputToken = ConstructorParameters<typeof Output>[0];

function nodeOf(source: string): Template {
  const [node] = parseLiquid(source, 'html');
  if (!node) throw new Error('no node');
  return node;
}

const outputOf = (source: string) => (nodeOf(source) as Output).value;

/** The operands and operators of an output, as the fast path tells them apart. */
const operandOf = (expression: string) => outputOf(`{{ ${expression} }}`).initial.postfix[0];

function branchesOf(node: Template) {
  if (node instanceof IfTag || node instanceof UnlessTag) return node;
  throw new Error('neither if nor unless');
}

test('the token of plain text: TypeGuards.isHTMLToken and getContent(), with white space trimmed', () => {
  const [text] = parseLiquid('a <b> {{- x }}', 'html');
  expect(text && TypeGuards.isHTMLToken(text.token) && text.token.getContent()).toBe('a <b>');
});

test('the token of an output: TypeGuards.isOutputToken', () => {
  expect(TypeGuards.isOutputToken(nodeOf('{{ a }}').token)).toBe(true);
  expect(TypeGuards.isOutputToken(nodeOf('{% if a %}{% endif %}').token)).toBe(false);
});

test('the token of a tag: TypeGuards.isTagToken and name', () => {
  const { token } = nodeOf('{% assign a = 1 %}');
  expect(TypeGuards.isTagToken(token) && token.name).toBe('assign');
});

test('Output.value.filters: name and args in the order of the source', () => {
  const { filters } = outputOf('{{ a | append: "b" | replace: c, "d" | raw }}');
  expect(filters.map(({ name, args }) => [name, args.length])).toEqual([
    ['append', 1],
    ['replace', 2],
    ['raw', 0],
  ]);
});

test('a named argument of a filter is a pair of name and token', () => {
  const [argument] = outputOf('{{ a | default: allow_false: true }}').filters[0]?.args ?? [];
  expect(argument).toEqual(['allow_false', expect.objectContaining({ content: true })]);
});

test('the escaping of outputs, a last filter of liquidjs, is left to who writes the value', () => {
  const namesOf = (source: string) => outputOf(source).filters.map(({ name }) => name);
  const escaping = Object.prototype.toString.call(escapeHtml);
  const { filters } = new Output(nodeOf('{{ a }}').token as OutputToken, engines.html).value;
  expect(filters.map(({ name }) => name)).toEqual([escaping]);
  expect(namesOf('{{ a | upcase }}')).toEqual(['upcase']);
  expect(namesOf('{{ a | raw }}')).toEqual(['raw']);
});

test('a filter that ends the escaping says that it is raw', () => {
  expect(isRaw(outputOf('{{ a | raw }}'))).toBe(true);
  expect(isRaw(outputOf('{{ a | escape }}'))).toBe(false);
});

test.each([
  ['"text"', 'isQuotedToken', 'text'],
  ["'it'", 'isQuotedToken', 'it'],
  ['-1.5', 'isNumberToken', -1.5],
  ['true', 'isLiteralToken', true],
] as const)(
  'Value.initial.postfix: %s is for %s, and content its value',
  (source, guard, content) => {
    const token = operandOf(source);
    expect(token && TypeGuards[guard](token)).toBe(true);
    expect(token).toMatchObject({ content });
  },
);

test('PropertyAccessToken.props: a path of names, with the root first and no variable', () => {
  const token = operandOf('contact.first_name["x y"]');
  if (!token || !TypeGuards.isPropertyAccessToken(token)) throw new Error('no path');
  const names = token.props.map(
    (prop) => (TypeGuards.isWordToken(prop) || TypeGuards.isQuotedToken(prop)) && prop.content,
  );
  expect(names).toEqual(['contact', 'first_name', 'x y']);
  expect(token.variable).toBeUndefined();
});

test('PropertyAccessToken.props: a computed name is a path of its own', () => {
  const token = operandOf('contact[field]');
  if (!token || !TypeGuards.isPropertyAccessToken(token)) throw new Error('no path');
  const [, computed] = token.props;
  expect(computed && TypeGuards.isPropertyAccessToken(computed)).toBe(true);
});

test('PropertyAccessToken.variable: set where a path begins with a text or a range', () => {
  const token = operandOf('"text".size');
  expect(token && TypeGuards.isPropertyAccessToken(token) && token.variable).toBeTruthy();
});

test('RangeToken: lhs and rhs', () => {
  const token = operandOf('(1..a)');
  if (!token || !TypeGuards.isRangeToken(token)) throw new Error('no range');
  expect([
    TypeGuards.isNumberToken(token.lhs),
    TypeGuards.isPropertyAccessToken(token.rhs),
  ]).toEqual([true, true]);
});

test('a condition is postfix: operands, then their operator, and `not` with one operand', () => {
  const [branch] = branchesOf(nodeOf('{% if not a == 1 and b %}{% endif %}')).branches;
  const steps = branch?.value.initial.postfix.map((token) =>
    TypeGuards.isOperatorToken(token) ? token.operator : 'operand',
  );
  expect(steps).toEqual(['operand', 'operand', '==', 'not', 'operand', 'and']);
});

test.each(['if', 'unless'])('branches and elseTemplates of %s', (tag) => {
  const source = `{% ${tag} a %}1{% elsif b %}2{% else %}3{% end${tag} %}`;
  const { branches, elseTemplates } = branchesOf(nodeOf(source));
  expect(branches.map(({ value, templates }) => [value.filters.length, templates.length])).toEqual([
    [0, 1],
    [0, 1],
  ]);
  expect(elseTemplates).toHaveLength(1);
});

test('CaseTag.branches: values are tokens', () => {
  const node = nodeOf('{% case a %}{% when "b", c %}1{% endcase %}');
  const values = node instanceof CaseTag ? node.branches.flatMap((branch) => branch.values) : [];
  expect(values.map((value) => TypeGuards.isQuotedToken(value))).toEqual([true, false]);
});

test.each([
  ['{% assign name = 1 %}', AssignTag, 'key'],
  ['{% capture name %}{% endcapture %}', CaptureTag, 'variable'],
  ['{% increment name %}', IncrementTag, 'variable'],
])('the name that %s sets is in a property of the tag', (source, tag, property) => {
  const node = nodeOf(source);
  expect(node).toBeInstanceOf(tag);
  expect(Reflect.get(node, property)).toBe('name');
});

test('localScope(): the names that assign and capture set', () => {
  const names = (source: string) =>
    [...(nodeOf(source).localScope?.() ?? [])].map(({ content }) => content);
  expect(names('{% assign a = 1 %}')).toEqual(['a']);
  expect(names('{% capture b %}{% endcapture %}')).toEqual(['b']);
});

test('arguments(): what a node evaluates, without the nodes inside it', () => {
  const pathsRead = expressionsOf(nodeOf('{% if a %}{{ b }}{% elsif c %}{% endif %}'));
  expect(pathsRead.map(({ operands }) => operands.length)).toEqual([1, 1]);
});

test('children(true, true): the nodes directly inside a node', () => {
  expect(childrenOf(nodeOf('{% if a %}1{% else %}{{ b }}{% endif %}'))).toHaveLength(2);
});

test('options.operators: a function for each operator, called with its sides and the context', () => {
  const { operators } = engines.html.options;
  const names = ['==', '!=', '>', '<', '>=', '<=', 'contains', 'not', 'and', 'or'];
  expect(names.filter((name) => typeof operators[name] !== 'function')).toEqual([]);
});

test('memoryLimit.use() of a context throws once it has counted too much', () => {
  const context = new Context({}, { ...engines.html.options, memoryLimit: 10 }, { sync: true });
  expect(() => context.memoryLimit.use(10)).not.toThrow();
  expect(() => context.memoryLimit.use(1)).toThrow(/memory/);
});

test('Parser.parseTokens takes its tokens by shift()', () => {
  let taken = 0;
  class Counting<T> extends Array<T> {
    override shift(): T | undefined {
      taken += 1;
      return super.shift();
    }
  }
  class CountingParser extends Parser {
    override parseTokens(tokens: Parameters<Parser['parseTokens']>[0]): Template[] {
      return super.parseTokens(Counting.from(tokens));
    }
  }
  new CountingParser(engines.html).parse('a{{ b }}c');
  expect(taken).toBeGreaterThanOrEqual(3);
});
