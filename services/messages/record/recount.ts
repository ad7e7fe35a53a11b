import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';

/** By then no process runs that doesn't keep these counts. */
const oldProcessesEnd = '1 hour';

// Both are read in one snapshot, so what other statements count meanwhile is in both or in neither.
const missingSql = `
  insert into variation_counts as c (workspace_id, broadcast_id, template_id, slot, failed, skipped, deferred, unknown)
  select $1, $2, template_id, 0, sum(failed), sum(skipped), sum(deferred), sum(unknown)
  from (
    select template_id, (failed_at is not null)::int as failed, (status = 'skipped')::int as skipped,
      (status = 'deferred')::int as deferred, (unknown > 0)::int as unknown
    from messages where workspace_id = $1 and broadcast_id = $2 and not by_hand
    union all
    select template_id, -failed, -skipped, -deferred, -unknown
    from variation_counts where workspace_id = $1 and broadcast_id = $2
  ) difference
  group by template_id
  order by template_id
  on conflict (workspace_id, broadcast_id, template_id, slot) do update set
    failed = c.failed + excluded.failed, skipped = c.skipped + excluded.skipped,
    deferred = c.deferred + excluded.deferred, unknown = c.unknown + excluded.unknown`;

/** Adds what was not counted of a broadcast that began before all counts were kept (m0012). */
export async function countMissing(
  store: Store,
  workspaceId: string,
  broadcastId: string,
): Promise<void> {
  if (!(await isUncounted(store.fork(), workspaceId, broadcastId))) return;
  await store.fork().transactional(async (em) => {
    // One at a time: two would each add the same difference.
    if (!(await isUncounted(em, workspaceId, broadcastId, 'for update'))) return;
    await query(em, missingSql, [workspaceId, broadcastId]);
    await query(
      em,
      `delete from uncounted_broadcasts
       where workspace_id = $1 and broadcast_id = $2 and migrated_at < now() - interval '${oldProcessesEnd}'`,
      [workspaceId, broadcastId],
    );
  });
}

async function isUncounted(
  em: EntityManager,
  workspaceId: string,
  broadcastId: string,
  lock = '',
): Promise<boolean> {
  const rows = await query(
    em,
    `select 1 from uncounted_broadcasts where workspace_id = $1 and broadcast_id = $2 ${lock}`,
    [workspaceId, broadcastId],
  );
  return rows.length > 0;
}
