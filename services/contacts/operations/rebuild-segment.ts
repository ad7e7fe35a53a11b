import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { beginBuild } from '../segments/build/begin.ts';
import { recomputeTime } from '../segments/build/recompute.ts';
import { findSegment, treeOf } from '../segments/segment.ts';

export function rebuildSegment({ store, now }: Context): Methods['rebuildSegment'] {
  return ({ workspaceId, segmentId }, call) =>
    auditedTransaction(store, call, async (em) => {
      const key = { workspaceId, id: segmentId };
      const row = await findSegment(em, key, { isLocked: true });
      const recomputeAfter = recomputeTime(treeOf(row), now());
      await beginBuild(em, key, { isNewVersion: true, recomputeAfter });
      return { success: true, message: 'Segment rebuild has been queued' };
    });
}
