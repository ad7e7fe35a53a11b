import type { ErasedTable } from '#lib/postgres/erase.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { addWake } from '../lifecycle/wake.ts';

const broadcastsAtOnce = 100;

/** Tables with a workspace's data. A run whose broadcast is gone stops sending, and ends. */
export function partsOf(store: Store): readonly ErasedTable[] {
  return [
    { table: 'broadcasts', erase: (workspaceId) => eraseBroadcasts(store, workspaceId) },
    { table: 'slices' },
    { table: 'audience_parts' },
    { table: 'audience_pages' },
    { table: 'global_feeds' },
    // The place of a check of runs, which then begins anew.
    { table: 'watch_cursor' },
    { table: 'idempotency_keys' },
  ];
}

function eraseBroadcasts(store: Store, workspaceId: string): Promise<number> {
  return store.fork().transactional(async (em) => {
    const rows = await query<{ id: string; is_live: boolean }>(
      em,
      `delete from broadcasts where ctid = any(array(
         select ctid from broadcasts where workspace_id = $1
         order by status in ('draft', 'sent', 'cancelled', 'failed') limit ${broadcastsAtOnce} for update
       ))
       returning id, status not in ('draft', 'sent', 'cancelled', 'failed') as is_live`,
      [workspaceId],
    );
    // Wakes name nothing of the workspace but ids, and outlive it.
    for (const { id, is_live } of rows) {
      if (is_live) await addWake(em, { key: { workspaceId, id }, name: '' });
    }
    return rows.length;
  });
}
