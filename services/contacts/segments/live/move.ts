/*
 * Moves: contacts enter and leave segments after a change.
 *
 * One transaction a workspace and step: lock its members (another process: later), take the oldest
 * changes, evaluate the segments that read what was touched, write the moves with their events,
 * delete the changes. A group of segments that fails is tried one by one, so that a faulty tree
 * stops itself alone.
 *
 * While messages does not answer, segments that ask it keep their changes as postponed; others go
 * on. Limits: 100,000 moves a transaction, 3 s an evaluation.
 *
 * Who runs next: the mover, until no changes are left; then the next change wakes it.
 */

import { ConnectError } from '@connectrpc/connect';
import type { Outbox } from '#lib/events/outbox.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { touches } from '../../changes/touch.ts';
import { type EvaluationContext, evaluate, evaluateWithin, inStatements } from '../evaluate.ts';
import {
  type Moves,
  membersIn,
  movesOf,
  type SegmentMember,
  tryLockMembers,
  writeMoves,
} from '../members.ts';
import { type SegmentRow, segmentsReading, treeOf } from '../segment.ts';
import { isFaultOfTree, isMessagesAway, SegmentFault } from '../segment-fault.ts';
import { readsMessages, type Tree } from '../tree/tree.ts';

export type MoveContext = EvaluationContext & { outbox: Outbox };

/** One change with many segments may move as many members, which are written in one transaction. */
const movesMax = 100_000;
const evaluationMaxMs = 3_000;

type Segment = { row: SegmentRow; tree: Tree };
/** What was touched of each address. */
type Changes = Map<string, Set<string>>;

export type SegmentMove = {
  workspaceId: string;
  changesMax: number;
  /**
   * Postponed changes are looked at by segments that ask messages, and stay while messages does not
   * answer.
   */
  source?: 'changes' | 'postponed';
  /** Whether messages is asked; otherwise the segments that ask it wait. */
  asksMessages?: boolean;
};

/**
 * Looks at the oldest changes of a workspace, moves their contacts in and out, and forgets the
 * changes, all in one transaction. While messages does not answer, the segments that ask it wait
 * for their changes, and no others. Answers how many changes it took, and whether any were
 * postponed; undefined while another process writes members of the workspace.
 */
export function moveContacts(
  context: MoveContext,
  { workspaceId, changesMax, source = 'changes', asksMessages = true }: SegmentMove,
): Promise<{ taken: number; isPostponed: boolean } | undefined> {
  return context.store.fork().transactional(async (em) => {
    if (!(await tryLockMembers(em, workspaceId))) return undefined;
    const { taken, changes } = await takeChanges(em, { workspaceId, changesMax, source });
    if (taken === 0) return { taken, isPostponed: false };
    const finding = { workspaceId, changes, source, asksMessages };
    const { moves, postponed } = await findMoves(context, em, finding);
    await writeMoves({ em, outbox: context.outbox, workspaceId }, moves, context.now());
    await postpone(em, { workspaceId, changes, postponed });
    return { taken, isPostponed: postponed.length > 0 };
  });
}

/** Keeps what postponed segments have to look at, once for each contact. */
async function postpone(
  em: EntityManager,
  {
    workspaceId,
    changes,
    postponed,
  }: { workspaceId: string; changes: Changes; postponed: readonly Segment[] },
): Promise<void> {
  const touched = [...changes].filter(([, keys]) =>
    postponed.some(({ row }) => isTouched(row, keys)),
  );
  if (touched.length === 0) return;
  await query(
    em,
    `insert into postponed_changes as known (workspace_id, email, touched)
     select $1, email, array(select json_array_elements_text(touched))
     from unnest($2::text[], $3::json[]) as row (email, touched)
     on conflict (workspace_id, email) do update
       set touched = array(select distinct unnest(known.touched || excluded.touched))`,
    [
      workspaceId,
      touched.map(([email]) => email),
      touched.map(([, keys]) => JSON.stringify([...keys])),
    ],
  );
}

const sources = {
  changes: { table: 'segment_changes', order: 'seq' },
  postponed: { table: 'postponed_changes', order: 'email' },
};

/** Deletes them; they are back if the transaction fails. */
async function takeChanges(
  em: EntityManager,
  {
    workspaceId,
    changesMax,
    source,
  }: { workspaceId: string; changesMax: number; source: keyof typeof sources },
) {
  const { table, order } = sources[source];
  const rows = await query<{ email: string; touched: string[] }>(
    em,
    `delete from ${table} where ctid = any(array(
       select ctid from ${table} where workspace_id = $1 order by ${order}
       limit least($2, (
         select ${movesMax} / greatest(1, count(*)) from segments where workspace_id = $1
       ))
     )) returning email, touched`,
    [workspaceId, changesMax],
  );
  const changes: Changes = new Map();
  for (const { email, touched } of rows) {
    const keys = changes.get(email) ?? new Set();
    for (const key of touched) keys.add(key);
    changes.set(email, keys);
  }
  return { taken: rows.length, changes };
}

type Finding = Required<Pick<SegmentMove, 'workspaceId' | 'source' | 'asksMessages'>> & {
  changes: Changes;
};

async function findMoves(
  context: MoveContext,
  em: EntityManager,
  { workspaceId, changes, source, asksMessages }: Finding,
): Promise<{ moves: Moves; postponed: Segment[] }> {
  const touched = [...new Set([...changes.values()].flatMap((keys) => [...keys]))];
  const rows = await segmentsReading(em, workspaceId, touched);
  const segments = rows.map((row) => ({ row, tree: readTree(row) }));
  const [asking = [], plain = []] = [true, false].map((asks) =>
    segments.filter(({ tree }) => readsMessages(tree) === asks),
  );
  const match = async (some: readonly Segment[]) => {
    const found: SegmentMember[] = [];
    for (const group of inStatements(some, ({ tree }) => tree)) {
      found.push(...(await matchGroup(context, em, { workspaceId, changes, group })));
    }
    return found;
  };
  const matched = source === 'changes' ? await match(plain) : [];
  const postponed: Segment[] = [];
  if (asksMessages) {
    try {
      matched.push(...(await match(asking)));
    } catch (error) {
      if (source === 'postponed' || !isMessagesAway(error)) throw error;
      postponed.push(...asking);
    }
  } else postponed.push(...asking);
  const evaluated = source === 'changes' ? segments : asking;
  const emails = [...changes.keys()];
  const members = await membersIn(em, { workspaceId, scope: { kind: 'emails', emails } });
  const gone = await goneOf(em, workspaceId, changes);
  const waiting = new Set(postponed);
  const byId = new Map(
    evaluated.filter((each) => !waiting.has(each)).map(({ row }) => [row.id, row]),
  );
  const moves = movesOf({
    members,
    matched,
    isGone: ({ email }) => gone.has(email),
    isEvaluated({ segmentId, email }) {
      const segment = byId.get(segmentId);
      return segment !== undefined && isTouched(segment, changes.get(email));
    },
  });
  return { moves, postponed };
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

/**
 * Who matches which segment of a group. Where the group fails, each is tried alone, so that the one
 * at fault is known.
 */
async function matchGroup(
  context: MoveContext,
  em: EntityManager,
  { workspaceId, changes, group }: Group,
): Promise<SegmentMember[]> {
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
    const alone: SegmentMember[] = [];
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
