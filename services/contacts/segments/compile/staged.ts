import { isAboutMessages, type Leaf, type Node, type Tree } from '../tree/tree.ts';
import { compile } from './compile.ts';
import { leafSql } from './leaf.ts';
import { type Inputs, Statement } from './statement.ts';

/**
 * Up to this many contacts are looked up one by one; for more, all rows of a leaf are read once.
 */
const fewDefault = 20_000;

/**
 * Compiles a tree to the steps of a `with` for a whole workspace; the last one, `matched`, has the
 * addresses. Conditions that must all hold are steps one after the other: what few contacts are
 * left of is not read for all.
 */
export function compileStages(
  { root, timezone }: Tree,
  inputs: Omit<Inputs, 'scope'>,
  fewMax = fewDefault,
): { steps: string; values: unknown[] } {
  const nodes = root.kind === 'branch' && root.operator === 'and' ? root.nodes : [root];
  const later = nodes.filter(isLater).toSorted((a, b) => rank(a) - rank(b));
  const statement = new Statement({ ...inputs, scope: { kind: 'all' } });
  const first: Node = {
    kind: 'branch',
    operator: 'and',
    nodes: nodes.filter((node) => !isLater(node)),
  };
  const { from, matches } = compile([{ root: first, timezone }], statement);
  const steps = [`stage0 as materialized (select contact.email from ${from} and (${matches[0]}))`];
  for (const leaf of later) steps.push(stage(statement, leaf, { number: steps.length, fewMax }));
  steps.push(`matched as (select email from stage${steps.length - 1})`);
  return { steps: steps.join(',\n'), values: statement.values };
}

type LaterLeaf = Exclude<Leaf, { kind: 'fields' }>;

function isLater(node: Node): node is LaterLeaf {
  return node.kind !== 'branch' && node.kind !== 'fields' && !isAboutMessages(node);
}

/** Leaves bounded by a span are read fastest, and often leave the fewest contacts. */
function rank(leaf: LaterLeaf): number {
  if (leaf.kind === 'list') return 1;
  return leaf.span.since || leaf.span.lastDays !== undefined ? 0 : 2;
}

/**
 * The contacts of the stage before for whom a leaf holds too. Only one of the two sub-selects is
 * run.
 */
function stage(
  statement: Statement,
  leaf: LaterLeaf,
  { number, fewMax }: { number: number; fewMax: number },
): string {
  const before = `stage${number - 1}`;
  const isFew = `(select count(*) <= ${fewMax} from ${before})`;
  const few = scoped(statement, leaf, (column) => {
    return `${column} = any(array(select email from ${before} where ${isFew}))`;
  });
  const many = scoped(statement, leaf, () => `not ${isFew}`);
  return `stage${number} as materialized (
      select contact.email from ${before} contact ${[...few.joins, ...many.joins].join('\n')}
      where case when ${isFew} then ${few.sql} else ${many.sql} end
    )`;
}

function scoped(statement: Statement, leaf: LaterLeaf, scope: (column: string) => string) {
  const before = statement.joins.length;
  const sql = statement.within(scope, () => leafSql(statement, leaf, ''));
  return { sql, joins: statement.joins.slice(before) };
}
