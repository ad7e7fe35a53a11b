import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { StatementScope } from '../compile/statement.ts';
import { evaluate, evaluateWithin } from '../evaluate.ts';
import type { MoveContext } from '../live/move.ts';
import { lockMembers, membersIn, movesOf, writeMoves } from '../members.ts';
import { type SegmentKey, type SegmentRow, segmentColumns, treeOf } from '../segment.ts';
import { recomputeTime } from './recompute.ts';

const evaluationMaxMs = 10_000;

type Range = Extract<StatementScope, { kind: 'range' }>;

/**
 * Builds the next page, in one transaction: who matches joins, and who does not leaves, contacts
 * that are no more among them. Answers whether there are more; false as well if another build has
 * begun, or none runs.
 */
export function buildPage(
  context: MoveContext,
  { workspaceId, id }: SegmentKey,
  { buildId, size }: { buildId: string; size: number },
): Promise<boolean> {
  return context.store.fork().transactional(async (em) => {
    await lockMembers(em, workspaceId);
    const [row] = await query<SegmentRow>(
      em,
      `select ${segmentColumns} from segments
       where workspace_id = $1 and id = $2 and build_id = $3 for update`,
      [workspaceId, id, buildId],
    );
    if (!row) return false;
    const tree = treeOf(row);
    const { scope, count } = await nextRange(em, workspaceId, {
      after: row.build_after ?? '',
      size,
    });
    const found = await evaluateWithin(evaluationMaxMs, em, (inner) =>
      evaluate(context, inner, { workspaceId, scope, trees: [tree] }),
    );
    const matched = [...found.keys()].map((email) => ({
      segmentId: id,
      email,
      version: row.version,
    }));
    const members = await membersIn(em, { workspaceId, scope, segmentId: id });
    const moves = movesOf({ members, matched });
    await writeMoves({ em, outbox: context.outbox, workspaceId }, moves, context.now());
    if (scope.last === undefined)
      await finish(em, { workspaceId, id }, recomputeTime(tree, context.now()), context.now());
    else await advance(em, { workspaceId, id }, scope.last, count);
    return scope.last !== undefined;
  });
}

/**
 * The next range of addresses, with `size` contacts. The last one has no end, so that members
 * without a contact are found.
 */
async function nextRange(
  em: EntityManager,
  workspaceId: string,
  { after, size }: { after: string; size: number },
): Promise<{ scope: Range; count: number }> {
  const [row] = await query<{ last: string | null; count: number }>(
    em,
    `select max(email) as last, count(*)::int as count from (
       select email from contacts where workspace_id = $1 and email > $2 order by email limit $3
     ) contact`,
    [workspaceId, after, size],
  );
  const { last, count } = row ?? { last: null, count: 0 };
  const isEnd = last === null || count < size;
  return { scope: { kind: 'range', after, ...(isEnd ? {} : { last }) }, count };
}

async function advance(
  em: EntityManager,
  { workspaceId, id }: SegmentKey,
  after: string,
  count: number,
): Promise<void> {
  await query(
    em,
    `update segments set build_after = $3, build_count = build_count + $4 where workspace_id = $1 and id = $2`,
    [workspaceId, id, after, count],
  );
}

async function finish(
  em: EntityManager,
  { workspaceId, id }: SegmentKey,
  recomputeAfter: Date | null,
  at: Date,
): Promise<void> {
  await query(
    em,
    `update segments set status = 'active', status_info = null, build_id = null, build_after = null,
       build_count = null, computed_at = $3, recompute_after = $4
     where workspace_id = $1 and id = $2`,
    [workspaceId, id, at, recomputeAfter],
  );
}
