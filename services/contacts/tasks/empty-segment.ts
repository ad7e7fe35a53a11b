import { bulkWorkMaxMs } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { Context } from '../context.ts';
import { addEmptying } from '../segments/emptying.ts';
import { lockMembers, type SegmentMember, writeMoves } from '../segments/members.ts';
import type { SegmentKey } from '../segments/segment.ts';

const pageSize = 1_000;

type Emptying = Pick<Context, 'store' | 'outbox' | 'now'>;

/**
 * Ends the memberships of a deleted segment page by page, and then its row. A run gives way after
 * some seconds, and a repeat continues where the last one stopped.
 */
export function emptySegment({ store, outbox, now }: Emptying, workMaxMs = bulkWorkMaxMs) {
  return async (payload: unknown): Promise<void> => {
    const { workspaceId, id } = payload as SegmentKey;
    const endsAtMs = Date.now() + workMaxMs;
    for (let hasMore = true; hasMore; ) {
      hasMore = await store.fork().transactional(async (em) => {
        await lockMembers(em, workspaceId);
        const left = await query<SegmentMember>(
          em,
          `select segment_id as "segmentId", email, version from segment_members
           where workspace_id = $1 and segment_id = $2 order by email limit ${pageSize}`,
          [workspaceId, id],
        );
        await writeMoves({ em, outbox, workspaceId }, { matched: [], left }, now());
        if (left.length === pageSize) return true;
        await query(
          em,
          `delete from segments where workspace_id = $1 and id = $2 and status = 'deleted'`,
          [workspaceId, id],
        );
        return false;
      });
      if (hasMore && Date.now() >= endsAtMs) {
        return addEmptying(store.fork(), { workspaceId, id });
      }
    }
  };
}
