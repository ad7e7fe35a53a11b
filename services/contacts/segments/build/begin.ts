import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { SegmentKey } from '../segment.ts';
import { nextRecompute } from './recompute.ts';
import { addWake } from './wake.ts';

const dueMax = 500;

/**
 * Starts a build over, in the transaction of its cause. A run of an earlier build goes on with this
 * one.
 */
export async function beginBuild(
  em: EntityManager,
  { workspaceId, id }: SegmentKey,
  { isNewVersion, recomputeAfter }: { isNewVersion: boolean; recomputeAfter: Date | null },
): Promise<void> {
  await query(
    em,
    `update segments set build_id = gen_random_uuid(), build_after = null, build_count = 0, recompute_after = $4,
       status = case when $3 then 'building' else status end,
       status_info = case when $3 then null else status_info end,
       version = version + $3::boolean::int
     where workspace_id = $1 and id = $2`,
    [workspaceId, id, isNewVersion, recomputeAfter],
  );
  await addWake(em, { workspaceId, id });
}

/**
 * Begins the builds of segments whose relative dates are due, and wakes the runs of builds that
 * were begun before.
 */
export async function beginDueBuilds(em: EntityManager, now: Date): Promise<void> {
  const due = await query<{ workspace_id: string; id: string; timezone: string }>(
    em,
    `select workspace_id, id, timezone from segments where recompute_after <= $1 and status in ('active', 'building', 'failed')
     order by recompute_after limit ${dueMax} for update skip locked`,
    [now],
  );
  for (const row of due) {
    // Its version and status stay; what is there goes on to be used.
    await beginBuild(
      em,
      { workspaceId: row.workspace_id, id: row.id },
      { isNewVersion: false, recomputeAfter: nextRecompute(row.timezone, now) },
    );
  }
  const open = await query<{ workspace_id: string; id: string }>(
    em,
    `select workspace_id, id from segments where build_id is not null order by workspace_id, id limit ${dueMax}`,
    [],
  );
  for (const { workspace_id, id } of open) await addWake(em, { workspaceId: workspace_id, id });
}

/**
 * Ends the build of a segment that can't be evaluated. Its members stay, and do not move any more.
 */
export async function failSegment(
  em: EntityManager,
  { workspaceId, id }: SegmentKey,
  reason: string,
): Promise<void> {
  await query(
    em,
    `update segments set status = 'failed', status_info = $3, build_id = null, build_after = null, build_count = null
     where workspace_id = $1 and id = $2 and status <> 'deleted'`,
    [workspaceId, id, reason],
  );
}
