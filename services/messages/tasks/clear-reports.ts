import { retentionJob } from '#lib/jobs/retention.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Context } from '../context.ts';

const stepRows = 500;
const keptDays = 30;
/** No provider reports of what is older. */
const liftedDays = 90;
const dayMs = 24 * 60 * 60 * 1_000;

type ClearingContext = Pick<Context, 'store' | 'now' | 'quotas' | 'log'>;

/**
 * Deletes reports that are older than 30 days, the oldest beyond the quota of their workspace that
 * are done, suppressions whose end has come, and after 90 days when others were removed.
 */
export function clearReports({ store, log, now, quotas }: ClearingContext) {
  return retentionJob(
    { store, log },
    {
      ...{ service: 'messages', task: 'clearReports', what: 'old reports' },
      rows: [
        'inbound_reports where true',
        'suppressions where expires_at is not null',
        'lifted_suppressions where true',
      ],
      stepRows,
      clear: async (workspaceId, repeat) => {
        await repeat(() => endSuppressions(store, workspaceId, now()));
        await repeat(() => deleteLifted(store, workspaceId, daysBefore(now(), liftedDays)));
        const before = daysBefore(now(), keptDays);
        await repeat(() => deleteReports(store, workspaceId, before));
        const { used, quota } = await quotas.countNow(workspaceId, 'inbound_reports');
        // Makes room for an hour's reports.
        let beyond = used < quota ? 0 : used - Math.floor(quota * 0.9);
        await repeat(async (rowsMax) => {
          if (beyond <= 0) return 0;
          const deleted = await deleteReports(store, workspaceId, now(), Math.min(rowsMax, beyond));
          beyond -= deleted;
          return beyond > 0 ? deleted : 0;
        });
      },
    },
  );
}

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * dayMs);

async function deleteReports(
  store: Store,
  workspaceId: string,
  before: Date,
  rowsMax: number = stepRows,
): Promise<number> {
  const [row] = await query<{ count: number }>(
    store.fork(),
    `with gone as (
       delete from inbound_reports where ctid = any(array(
         select ctid from inbound_reports
         where workspace_id = $1 and received_at < $2 and due_at is null
         order by received_at limit $3::int for update skip locked
       )) returning 1
     )
     select count(*)::int as count from gone`,
    [workspaceId, before, rowsMax],
  );
  return row?.count ?? 0;
}

async function endSuppressions(store: Store, workspaceId: string, now: Date): Promise<number> {
  const [row] = await query<{ count: number }>(
    store.fork(),
    `with gone as (
       delete from suppressions where ctid = any(array(
         select ctid from suppressions where workspace_id = $1 and expires_at <= $2
         order by expires_at limit ${stepRows} for update skip locked
       )) returning 1
     )
     select count(*)::int as count from gone`,
    [workspaceId, now],
  );
  return row?.count ?? 0;
}

async function deleteLifted(store: Store, workspaceId: string, before: Date): Promise<number> {
  const [row] = await query<{ count: number }>(
    store.fork(),
    `with gone as (
       delete from lifted_suppressions where ctid = any(array(
         select ctid from lifted_suppressions where workspace_id = $1 and lifted_at < $2
         order by lifted_at limit ${stepRows} for update skip locked
       )) returning 1
     )
     select count(*)::int as count from gone`,
    [workspaceId, before],
  );
  return row?.count ?? 0;
}
