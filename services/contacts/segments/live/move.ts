import { ConnectError } from '@connectrpc/connect';
import type { Outbox } from '#lib/jobs/outbox.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { touches } from '../../changes/touch.ts';
import { type EvaluationContext, evaluate, evaluateWithin, inStatements } from '../evaluate.ts';
import {
  type Member,
  type Moves,
  membersIn,
  movesOf,
  tryLockMembers,
  writeMoves,
} from '../members.ts';
import { type SegmentRow, segmentsReading, treeOf } from '../segment.ts';
import { isFaultOfTree, SegmentFault } from '../segment-fault.ts';
import type { Tree } from '../tree/tree.ts';

export type MoveContext = EvaluationContext & { outbox: Outbox };

/** One change with many segments may move as many members, which are written in one transaction. */
const movesMax = 100_000;
const evaluationMaxMs = 3_000;

type Segment = { row: SegmentRow; tree: Tree };
/** What was touched of each address. */
type Changes = Map<string, Set<string>>;

/**
 * Looks at the oldest changes of a workspace, moves their contacts in and out, and forgets the changes, all in one
 * transaction. Answers how many changes it took; undefined while another process writes members of the workspace.
 */
export function moveContacts(
  context: MoveContext,
  { workspaceId, changesMax }: { workspaceId: string; changesMax: number },
): Promise<number | undefined> {
  return context.store.fork().transactional(async (em) => {
    if (!(await tryLockMembers(em, workspaceId))) return undefined;
    const { seqs, changes } = await takeChanges(em, workspaceId, changesMax);
    if (seqs.length === 0) return 0;
    const moves = await findMoves(context, em, workspaceId, changes);
    await writeMoves({ em, outbox: context.outbox, workspaceId }, moves, context.now());
    await query(
      em,
      'delete from segment_changes where workspace_id = $1 and seq = any($2::bigint[])',
      [workspaceId, seqs],
    );
    return seqs.length;
  });
}

async function takeChanges(em: EntityManager, workspaceId: string, changesMax: number) {
  const rows = await query<{ seq: string; email: string; touched: string[] }>(
    em,
    `select seq, email, touched from segment_changes where workspace_id = $1 order by seq
     limit least($2, (
       select ${movesMax} / greatest(1, count(*)) from segments where workspace_id = $1
     ))`,
    [workspaceId, changesMax],
  );
  const changes: Changes = new Map();
  for (const { email, touched } of rows) {
    const keys = changes.get(email) ?? new Set();
    for (const key of touched) keys.add(key);
    changes.set(email, keys);
  }
  return { seqs: rows.map(({ seq }) => seq), changes };
}

async function findMoves(
  context: MoveContext,
  em: EntityManager,
  workspaceId: string,
  changes: Changes,
): Promise<Moves> {
  const touched = [...new Set([...changes.values()].flatMap((keys) => [...keys]))];
  const rows = await segmentsReading(em, workspaceId, touched);
  const segments = rows.map((row) => ({ row, tree: readTree(row) }));
  const matched: Member[] = [];
  for (const group of inStatements(segments, ({ tree }) => tree)) {
    matched.push(...(await matchGroup(context, em, { workspaceId, changes, group })));
  }
  const emails = [...changes.keys()];
  const members = await membersIn(em, { workspaceId, scope: { kind: 'emails', emails } });
  const gone = await goneOf(em, workspaceId, changes);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return movesOf({
    members,
    matched,
    isGone: ({ email }) => gone.has(email),
    isEvaluated({ segmentId, email }) {
      const segment = byId.get(segmentId);
      return segment !== undefined && isTouched(segment, changes.get(email));
    },
  });
}

function readTree(row: SegmentRow): Tree {
  try {
    return treeOf(row);
  } catch (error) {
    throw new SegmentFault(row, ConnectError.from(error));
  }
}

function isTouched({ reads }: SegmentRow, keys: Set<string> | undefined): boolean {
  return reads.some((key) => keys?.has(key));
}

type Group = { workspaceId: string; changes: Changes; group: readonly Segment[] };

/** Who matches which segment of a group. Where the group fails, each is tried alone, so that the one at fault is known. */
async function matchGroup(
  context: MoveContext,
  em: EntityManager,
  { workspaceId, changes, group }: Group,
): Promise<Member[]> {
  const emails = [...changes.keys()].filter((email) =>
    group.some(({ row }) => isTouched(row, changes.get(email))),
  );
  const scope = { kind: 'emails', emails } as const;
  const trees = group.map(({ tree }) => tree);
  try {
    const found = await evaluateWithin(evaluationMaxMs, em, (inner) =>
      evaluate(context, inner, { workspaceId, scope, trees }),
    );
    return [...found].flatMap(([email, places]) =>
      places.flatMap((place) => {
        const row = group[place]?.row;
        if (!row || !isTouched(row, changes.get(email))) return [];
        return [{ segmentId: row.id, email, version: row.version }];
      }),
    );
  } catch (error) {
    if (!isFaultOfTree(error)) throw error;
    const [first] = group;
    if (group.length === 1 && first) throw new SegmentFault(first.row, error);
    const alone: Member[] = [];
    for (const segment of group) {
      alone.push(...(await matchGroup(context, em, { workspaceId, changes, group: [segment] })));
    }
    return alone;
  }
}

/** Contacts that are no more: they leave every segment. */
async function goneOf(
  em: EntityManager,
  workspaceId: string,
  changes: Changes,
): Promise<Set<string>> {
  const asked = [...changes].filter(([, keys]) => keys.has(touches.all)).map(([email]) => email);
  if (asked.length === 0) return new Set();
  const rows = await query<{ email: string }>(
    em,
    `select email from unnest($2::text[]) as asked (email)
     where not exists (select from contacts where workspace_id = $1 and email = asked.email)`,
    [workspaceId, asked],
  );
  return new Set(rows.map(({ email }) => email));
}
