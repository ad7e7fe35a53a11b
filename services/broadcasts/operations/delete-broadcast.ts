import { endTemplateUses } from '#lib/jobs/template-uses.ts';
import { query } from '#lib/postgres/query.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import { addForget } from '../audience/forget.ts';
import { countsOf, isCounted, lockBroadcast } from '../broadcast/queries.ts';
import { isFreezing } from '../broadcast/row.ts';
import type { Context, Methods } from '../context.ts';
import { wake } from '../lifecycle/wake.ts';
import { broadcastUser, releaseBroadcastUses } from '../variations/template-uses.ts';

export function deleteBroadcast(context: Context): Methods['deleteBroadcast'] {
  const { store } = context;
  return async ({ workspaceId, id }, call) => {
    await auditedTransaction(store, call, async (em) => {
      const broadcast = await lockBroadcast(em, { workspaceId, id });
      const counts = (await countsOf(em, workspaceId, [id]))(id);
      const touched = counts.sent + counts.failed + counts.deferred;
      broadcast.checkDeletable({ touched, isCounted: await isCounted(em, { workspaceId, id }) });
      if (broadcast.status === 'scheduled' || broadcast.status === 'paused') {
        await wake(em, broadcast);
        await endTemplateUses(em, store.name, broadcastUser({ workspaceId, id }));
      }
      for (const table of ['slices', 'global_feeds']) {
        await query(em, `delete from ${table} where workspace_id = $1 and broadcast_id = $2`, [
          workspaceId,
          id,
        ]);
      }
      // Deleted by a job, in chunks.
      if (isFreezing(broadcast)) await addForget(em, { workspaceId, id });
      em.remove(broadcast);
      await em.flush();
    });
    await releaseBroadcastUses(context, { workspaceId, id });
    return { success: true };
  };
}
