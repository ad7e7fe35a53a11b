import { addJob } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import { auditDaysDefault } from '../settings.ts';

/** Of each workspace at a time. */
const stepSize = 500;
const rowsMax = 5_000;
const everyMs = 60 * 60_000;
const soonMs = 1_000;

/** Queues the next clearing; one that waits already is moved. */
export async function addAuditClearing(em: EntityManager, inMs: number): Promise<void> {
  const runAt = new Date(Date.now() + inMs);
  await addJob(em, 'workspaces', { task: 'clearAudit', payload: {}, key: 'clearAudit', runAt });
}

/** Deletes entries that are older than their workspace keeps them, every hour; more often while there is much to delete. */
export function clearAudit({ store }: { store: Store }) {
  return async (): Promise<void> => {
    const [row] = await query<{ count: number }>(
      store.fork(),
      `with gone as (
         delete from audit_entries where ctid = any(array(
           select old.ctid from workspaces
           cross join lateral (
             select ctid from audit_entries
             where workspace_id = workspaces.id and created_at < now() - make_interval(
               days => coalesce((settings->>'audit_retention_days')::int, ${auditDaysDefault}))
             order by created_at limit ${stepSize}
           ) old
           limit ${rowsMax}
         )) returning 1
       )
       select count(*)::int as count from gone`,
      [],
    );
    await addAuditClearing(store.fork(), row && row.count > 0 ? soonMs : everyMs);
  };
}
