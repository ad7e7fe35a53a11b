import { type Retention, retentionJob } from '#lib/jobs/retention.ts';
import type { Log } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Context } from '../context.ts';
import { keptSince } from '../timeline/retention.ts';

type ClearingContext = Pick<Context, 'store' | 'now' | 'workspaces' | 'quotas'>;

/**
 * Deletes entries that are older than their workspace keeps them, and the oldest beyond its quota.
 */
export function clearTimelines(context: ClearingContext, log: Pick<Log, 'warn'>) {
  const { store, quotas, now } = context;
  const clear: Retention['clear'] = async (workspaceId, repeat) => {
    const before = await keptSince(context, workspaceId);
    await repeat((rowsMax) => deleteOldest(store, { workspaceId, before }, rowsMax));
    const { used, quota } = await quotas.countNow(workspaceId, 'timeline_entries');
    let excess = used - quota;
    await repeat(async (rowsMax) => {
      if (excess <= 0) return 0;
      const wanted = Math.min(excess, rowsMax);
      const deleted = await deleteOldest(store, { workspaceId, before: now() }, wanted);
      excess -= deleted;
      return deleted;
    });
  };
  return retentionJob(
    { store, log },
    {
      ...{ service: 'contacts', task: 'clearTimelines', what: 'old timeline entries' },
      ...{ rows: ['timeline_entries where true'], stepRows: 5_000, clear },
    },
  );
}

async function deleteOldest(
  store: Store,
  { workspaceId, before }: { workspaceId: string; before: Date },
  rowsMax: number,
): Promise<number> {
  const [row] = await query<{ count: number }>(
    store.fork(),
    `with gone as (
       delete from timeline_entries where ctid = any(array(
         select ctid from timeline_entries
         where workspace_id = $1 and created_at < $2 and created_at > '-infinity'
         order by created_at limit $3 for update skip locked
       )) returning 1
     )
     select count(*)::int as count from gone`,
    [workspaceId, before, rowsMax],
  );
  return row?.count ?? 0;
}
