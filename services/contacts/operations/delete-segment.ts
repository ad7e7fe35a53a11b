import { changeInterests } from '#lib/events/interest-pushes.ts';
import { query } from '#lib/postgres/query.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { addEmptying } from '../segments/emptying.ts';
import { messageInterests } from '../segments/interests.ts';
import { findSegment } from '../segments/segment.ts';

/** The segment is gone at once; a job ends its memberships, which may be a million. */
export function deleteSegment({ store, producers, now }: Context): Methods['deleteSegment'] {
  return ({ workspaceId, id }, call) =>
    auditedTransaction(store, call, (em) =>
      changeInterests(messageInterests, producers, { em, workspaceId }, async () => {
        await findSegment(em, { workspaceId, id }, { isLocked: true });
        await query(
          em,
          `update segments set status = 'deleted', reads = '{}', recompute_after = null, build_id = null, build_after = null,
             build_count = null, updated_at = $3
           where workspace_id = $1 and id = $2`,
          [workspaceId, id, now()],
        );
        await addEmptying(em, { workspaceId, id });
        return { success: true };
      }),
    );
}
