import { SegmentJoinedSchema, SegmentLeftSchema } from '#gen/postrider/events/v1/segment_pb.ts';
import { typeOf } from '#lib/events/contracts.ts';
import { type EventScope, writeWithEvents } from '#lib/events/outbox.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { binaryArray } from '../binary-array.ts';
import { momentSql, momentStep, momentTextSql } from '../changes/moment.ts';
import { Statement, type StatementScope } from './compile/statement.ts';

export type SegmentMember = { segmentId: string; email: string; version: number };

/** A statement with this many takes well below a second. */
const movesPerStatement = 5_000;

/** Members that are new or matched an older version, and those that match no more. */
export type Moves = { matched: SegmentMember[]; left: SegmentMember[] };

type EvaluatedMembers = {
  /** The members before. */
  members: readonly SegmentMember[];
  matched: readonly SegmentMember[];
  /** Whether the contact is no more. */
  isGone?: (member: SegmentMember) => boolean;
  /** Whether a match would be known. */
  isEvaluated?: (member: SegmentMember) => boolean;
};

/** The changes that make the members those that match. */
export function movesOf({
  members,
  matched,
  isGone = () => false,
  isEvaluated = () => true,
}: EvaluatedMembers): Moves {
  const nameOf = ({ segmentId, email }: SegmentMember) => `${segmentId} ${email}`;
  const versions = new Map(members.map((member) => [nameOf(member), member.version]));
  const matching = new Set(matched.map(nameOf));
  return {
    matched: matched.filter((member) => versions.get(nameOf(member)) !== member.version),
    left: members.filter(
      (member) => isGone(member) || (isEvaluated(member) && !matching.has(nameOf(member))),
    ),
  };
}

/**
 * Held while members of a workspace are written, so that what is written last was evaluated last.
 */
const lockOf = (workspaceId: string) => `segments ${workspaceId}`;

export async function tryLockMembers(em: EntityManager, workspaceId: string): Promise<boolean> {
  const [row] = await query<{ held: boolean }>(
    em,
    'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as held',
    [lockOf(workspaceId)],
  );
  return row?.held ?? false;
}

export async function lockMembers(em: EntityManager, workspaceId: string): Promise<void> {
  await query(em, 'select pg_advisory_xact_lock(hashtextextended($1, 0))', [lockOf(workspaceId)]);
}

/** The members in scope, of one segment or of all. */
export function membersIn(
  em: EntityManager,
  {
    workspaceId,
    scope,
    segmentId,
  }: { workspaceId: string; scope: StatementScope; segmentId?: string },
): Promise<SegmentMember[]> {
  const statement = new Statement({ workspaceId, scope, now: new Date(0) });
  const ofSegment = segmentId === undefined ? 'true' : `segment_id = ${statement.bind(segmentId)}`;
  return query<SegmentMember>(
    em,
    `select segment_id as "segmentId", email, version from segment_members
     where workspace_id = ${statement.bind(workspaceId)} and ${ofSegment} and ${statement.inScope('email')}`,
    statement.values,
  );
}

/** Writes who joined and who left, with their events. The caller holds the workspace's lock. */
export async function writeMoves(
  scope: EventScope,
  { matched, left }: Moves,
  at: Date,
): Promise<void> {
  const most = Math.max(matched.length, left.length);
  for (let from = 0; from < most; from += movesPerStatement) {
    const until = from + movesPerStatement;
    await writeSome(
      scope,
      { matched: matched.slice(from, until), left: left.slice(from, until) },
      at,
    );
  }
}

async function writeSome(scope: EventScope, { matched, left }: Moves, at: Date): Promise<void> {
  const present = await holdContacts(scope, left);
  await writeWithEvents(
    scope,
    {
      steps: moveSteps,
      events: [
        {
          types: [typeOf(SegmentJoinedSchema)],
          occurredAt: momentSql,
          data: moveData,
          from: 'written moved join segments segment on segment.workspace_id = $1 and segment.id = moved.segment_id',
          where: 'is_new',
        },
        {
          types: [typeOf(SegmentLeftSchema)],
          occurredAt: momentSql,
          data: moveData,
          from: 'leavers moved join segments segment on segment.workspace_id = $1 and segment.id = moved.segment_id',
        },
      ],
      answer: 'true',
      plannedEachTime: 'of one move or of thousands',
    },
    [
      scope.workspaceId,
      at,
      binaryArray(
        'text',
        matched.map(({ segmentId }) => segmentId),
      ),
      binaryArray(
        'text',
        matched.map(({ email }) => email),
      ),
      matched.map(({ version }) => version),
      binaryArray(
        'text',
        left.map(({ segmentId }) => segmentId),
      ),
      binaryArray(
        'text',
        left.map(({ email }) => email),
      ),
      present,
    ],
  );
}

const moveData = `json_build_object('email', moved.email, 'segment_id', segment.id, 'segment_name', segment.name,
  'event_timestamp', ${momentTextSql})`;

// The start of a membership is read from the member's row; an entry is written only for its end,
// with its beginning.
const moveSteps = `written as (
    insert into segment_members as member (workspace_id, segment_id, email, version, matched_at)
    select $1, segment_id, email, version, $2
    from unnest($3::text[], $4::text[], $5::int[]) as row (segment_id, email, version)
    on conflict (workspace_id, segment_id, email) do update set version = excluded.version
    returning segment_id, email, member.xmax = 0 as is_new
  ),
  leavers as (
    delete from segment_members member using unnest($6::text[], $7::text[]) as row (segment_id, email)
    where member.workspace_id = $1 and member.segment_id = row.segment_id and member.email = row.email
    returning member.segment_id, member.email, member.matched_at
  ),
  ended as (
    insert into timeline_entries (workspace_id, email, created_at, kind, entity_id)
    select $1, email, time.at, time.kind, segment_id
    from leavers cross join lateral (
      values (matched_at, 'segment.joined'), ($2::timestamptz, 'segment.left')) as time (at, kind)
    where email = any($8::text[])
  ),
  ${momentStep('leavers')}`;

/**
 * Locks the contacts that still exist and returns their addresses: they cannot be deleted, with all
 * that is kept of them, before the transaction ends.
 */
async function holdContacts(
  { em, workspaceId }: EventScope,
  left: readonly SegmentMember[],
): Promise<string[]> {
  if (left.length === 0) return [];
  const rows = await query<{ email: string }>(
    em,
    `select email from contacts where workspace_id = $1 and email = any($2::text[])
     order by email for share`,
    [workspaceId, [...new Set(left.map(({ email }) => email))]],
  );
  return rows.map(({ email }) => email);
}

/** How many contacts are in each segment that has any, or in one. */
export async function countMembers(
  em: EntityManager,
  workspaceId: string,
  segmentId: string | null = null,
): Promise<Map<string, number>> {
  const rows = await query<{ id: string; count: number }>(
    em,
    `select segment_id as id, count(*)::int as count from segment_members
     where workspace_id = $1 and ${segmentId === null ? '$2::text is null' : 'segment_id = $2'} group by segment_id`,
    [workspaceId, segmentId],
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}
