import { deleteExcess, deleteOldRows, type Retention, retentionJob } from '#lib/jobs/retention.ts';
import type { Log } from '#lib/log.ts';
import type { Context } from '../context.ts';
import { keptSince } from '../timeline/retention.ts';

const entries = {
  table: 'timeline_entries',
  time: 'created_at',
  where: "created_at > '-infinity'",
};

type ClearingContext = Pick<Context, 'store' | 'now' | 'workspaces' | 'quotas'>;

/**
 * Deletes entries that are older than their workspace keeps them, and the oldest beyond its quota.
 */
export function clearTimelines(context: ClearingContext, log: Pick<Log, 'warn'>) {
  const { store, quotas, now } = context;
  const clear: Retention['clear'] = async (workspaceId, repeat) => {
    const before = await keptSince(context, workspaceId);
    await repeat((rowsMax) => deleteOldRows(store, entries, { workspaceId, before, rowsMax }));
    const { used, quota } = await quotas.countNow(workspaceId, 'timeline_entries');
    const excess = used - quota;
    await deleteExcess(store, entries, { workspaceId, before: now(), excess }, repeat);
  };
  return retentionJob(
    { store, log },
    {
      ...{ service: 'contacts', task: 'clearTimelines', what: 'old timeline entries' },
      ...{ rows: ['timeline_entries where true'], stepRows: 5_000, clear },
    },
  );
}
