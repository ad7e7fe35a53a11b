import { addJob } from '#lib/jobs/jobs.ts';
import type { Log } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import { auditDaysDefault } from '../settings.ts';

/** Of each workspace at a time. */
const stepSize = 500;
const rowsMax = 5_000;
const everyMs = 60 * 60_000;
const soonMs = 1_000;
const retryMs = 60_000;
/**
 * Null, which deletes nothing, where the setting is no number: the table's trigger would refuse,
 * and hold up the others.
 */
const daysSql = `case coalesce(jsonb_typeof(settings->'audit_retention_days'), 'null')
  when 'number' then (settings->>'audit_retention_days')::int
  when 'null' then ${auditDaysDefault} end`;

/** Queues the next clearing; one that waits already is moved. */
export async function addAuditClearing(em: EntityManager, inMs: number): Promise<void> {
  const runAt = new Date(Date.now() + inMs);
  await addJob(em, 'workspaces', { task: 'clearAudit', payload: {}, key: 'clearAudit', runAt });
}

/**
 * Deletes entries that are older than their workspace keeps them, every hour; more often while
 * there is much to delete.
 */
export function clearAudit({ store }: { store: Store }, { log }: { log: Pick<Log, 'warn'> }) {
  return async (): Promise<void> => {
    let nextMs = retryMs;
    try {
      nextMs = (await deleteOld(store)) > 0 ? soonMs : everyMs;
    } catch (error) {
      log.warn({ err: error }, 'old audit entries were not deleted; trying again');
    }
    await addAuditClearing(store.fork(), nextMs);
  };
}

async function deleteOld(store: Store): Promise<number> {
  const [row] = await query<{ count: number }>(
    store.fork(),
    `with gone as (
       delete from audit_entries where ctid = any(array(
         select old.ctid from workspaces
         cross join lateral (
           select ctid from audit_entries
           where workspace_id = workspaces.id and created_at < now() - make_interval(days => ${daysSql})
           order by created_at limit ${stepSize}
         ) old
         limit ${rowsMax}
       )) returning 1
     )
     select count(*)::int as count from gone`,
    [],
  );
  return row?.count ?? 0;
}
