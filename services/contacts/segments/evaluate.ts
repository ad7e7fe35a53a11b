import { refusal } from '#lib/errors/reasons.ts';
import { composed } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import { compile } from './compile/compile.ts';
import type { StatementScope } from './compile/statement.ts';
import { askFacts, type MessageFacts } from './facts.ts';
import { listRows, treeOf } from './segment.ts';
import { leavesOf, type Tree } from './tree/tree.ts';

export type EvaluationContext = { store: Store; messageFacts: MessageFacts; now: () => Date };

/** Above it PostgreSQL plans for longer than it joins. */
const leavesPerStatement = 40;

export type EvaluationScope = { workspaceId: string; scope: StatementScope };

/**
 * The places of the trees that contacts in scope match, by address; those that match none are left
 * out.
 */
export async function evaluate(
  context: Pick<EvaluationContext, 'messageFacts' | 'now'>,
  em: EntityManager,
  { trees, ...asked }: EvaluationScope & { trees: readonly Tree[] },
): Promise<Map<string, number[]>> {
  const inputs = { ...asked, now: context.now() };
  const facts = await askFacts(context.messageFacts, trees, inputs);
  const { from, matches, values } = compile(trees, { ...inputs, facts });
  const places = matches.map((match, place) => `case when ${match} then ${place} end`);
  const rows = await query<{ email: string; places: number[] }>(
    em,
    composed(`select * from (
       select contact.email, array_remove(array[${places.join(', ')}]::int[], null) as places from ${from}
     ) row where places <> '{}'`),
    values,
  );
  return new Map(rows.map(({ email, places }) => [email, places]));
}

/**
 * Limits the time of each statement, and not that of later ones in the transaction. It stays usable
 * if one fails.
 */
export function evaluateWithin<Result>(
  maxMs: number,
  em: EntityManager,
  run: (em: EntityManager) => Promise<Result>,
): Promise<Result> {
  return em.transactional(async (inner) => {
    const [before] = await query<{ timeout: string }>(
      inner,
      `select current_setting('statement_timeout') as timeout, set_config('statement_timeout', $1, true),
         set_config('jit', 'off', true)`,
      [String(maxMs)],
    );
    const result = await run(inner);
    await query(inner, `select set_config('statement_timeout', $1, true)`, [before?.timeout]);
    return result;
  });
}

/** Groups of trees, each small enough for one statement. */
export function inStatements<Item>(
  items: readonly Item[],
  treeOfItem: (item: Item) => Tree,
): Item[][] {
  const groups: Item[][] = [];
  let leaves = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const more = leavesOf(treeOfItem(item).root).length;
    leaves += more;
    if (leaves > leavesPerStatement) {
      groups.push([]);
      leaves = more;
    }
    groups.at(-1)?.push(item);
  }
  return groups;
}

type Question = { workspaceId: string; segmentIds: readonly string[]; emails: readonly string[] };

/**
 * Of at most 10,000 addresses, those that match the tree of any of the segments now: evaluated, not
 * read from the members.
 *
 * NotFound (`segment <id> not found`): no such segment, or it is deleted.
 */
export async function matchSegments(
  context: EvaluationContext,
  { workspaceId, segmentIds, emails }: Question,
): Promise<Set<string>> {
  const em = context.store.fork();
  const rows = new Map((await listRows(em, workspaceId)).map((row) => [row.id, row]));
  const trees = segmentIds.map((id) => {
    const row = rows.get(id);
    if (!row) throw refusal('SEGMENT_NOT_FOUND', `segment ${id.slice(0, 50)} not found`);
    return treeOf(row);
  });
  const matched = new Set<string>();
  for (const group of inStatements(trees, (tree) => tree)) {
    const scope: StatementScope = {
      kind: 'emails',
      emails: emails.filter((email) => !matched.has(email)),
    };
    const found = await evaluate(context, em, { workspaceId, scope, trees: group });
    for (const email of found.keys()) matched.add(email);
  }
  return matched;
}
