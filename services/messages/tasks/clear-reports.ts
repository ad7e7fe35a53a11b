import { Code, ConnectError } from '@connectrpc/connect';
import { deleteExcess, deleteOldRows, retentionJob } from '#lib/jobs/retention.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Context } from '../context.ts';
import { forgetRegistration } from '../reports/keys.ts';

const stepRows = 500;
const keptDays = 30;
/** No provider reports of what is older. */
const liftedDays = 90;
const dayMs = 24 * 60 * 60 * 1_000;

const done = { table: 'inbound_reports', time: 'received_at', where: 'due_at is null' };
const failed = { table: 'inbound_requests', time: 'failed_at', where: 'failed_at is not null' };
const lifted = { table: 'lifted_suppressions', time: 'lifted_at' };

type ClearingContext = Pick<Context, 'store' | 'now' | 'quotas' | 'log' | 'plans'>;

/**
 * Deletes reports that are older than 30 days, the oldest beyond the quota of their workspace that
 * are done, suppressions whose end has come, after 90 days when others were removed, and keys of
 * integrations that are gone.
 */
export function clearReports(context: ClearingContext) {
  const { store, log, now, quotas } = context;
  return retentionJob(
    { store, log },
    {
      ...{ service: 'messages', task: 'clearReports', what: 'old reports' },
      rows: [
        'inbound_reports where true',
        'inbound_requests where failed_at is not null',
        'suppressions where expires_at is not null',
        'report_keys where true',
        'lifted_suppressions where true',
      ],
      stepRows,
      clear: async (workspaceId, repeat) => {
        await repeat(() => endSuppressions(store, workspaceId, now()));
        const keptSince = daysBefore(now(), liftedDays);
        await repeat((rowsMax) =>
          deleteOldRows(store, lifted, { workspaceId, before: keptSince, rowsMax }),
        );
        const before = daysBefore(now(), keptDays);
        for (const rows of [done, failed]) {
          await repeat((rowsMax) => deleteOldRows(store, rows, { workspaceId, before, rowsMax }));
        }
        const { used, quota } = await quotas.countNow(workspaceId, 'inbound_reports');
        // Makes room for an hour's reports.
        const excess = used < quota ? 0 : used - Math.floor(quota * 0.9);
        await deleteExcess(store, done, { workspaceId, before: now(), excess }, repeat);
        await removeKeys(context, workspaceId);
      },
    },
  );
}

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * dayMs);

/**
 * An address that has bounced since has no end. A process of version 0.2 that records such a bounce
 * keeps the entry as it is.
 */
async function endSuppressions(store: Store, workspaceId: string, now: Date): Promise<number> {
  const [row] = await query<{ count: number }>(
    store.fork(),
    `with over as materialized (
       select email, exists (
         select from messages m
         where m.workspace_id = $1 and m.contact_email = s.email and m.bounced_at > s.created_at
       ) as is_dead
       from suppressions s where workspace_id = $1 and expires_at <= $2
       order by expires_at limit ${stepRows} for update skip locked
     ), kept as (
       update suppressions s set expires_at = null, note = null from over
       where s.workspace_id = $1 and s.email = over.email and over.is_dead
     ), gone as (
       delete from suppressions s using over
       where s.workspace_id = $1 and s.email = over.email and not over.is_dead
     )
     select count(*)::int as count from over`,
    [workspaceId, now],
  );
  return row?.count ?? 0;
}

/** No event says that an integration is deleted. */
async function removeKeys({ store, plans }: ClearingContext, workspaceId: string): Promise<void> {
  const rows = await query<{ integration_id: string }>(
    store.fork(),
    'select integration_id from report_keys where workspace_id = $1',
    [workspaceId],
  );
  for (const { integration_id: integrationId } of rows) {
    const isThere = await plans.kindOf(workspaceId, integrationId).then(
      () => true,
      (error: unknown) => {
        if (ConnectError.from(error).code === Code.NotFound) return false;
        throw error;
      },
    );
    if (!isThere) await forgetRegistration(store.fork(), { workspaceId, integrationId });
  }
}
