import type { ErasedTable } from '#lib/postgres/erase.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { satellites } from '../message-queries.ts';

const messagesAtOnce = 500;

/**
 * Tables with a workspace's data. The queue comes first, so that nothing of it is sent any more.
 */
export function partsOf(store: Store): readonly ErasedTable[] {
  return [
    { table: 'message_requests', where: 'due_at is not null' },
    { table: 'confirmations' },
    { table: 'open_confirmations' },
    { table: 'notifications' },
    { table: 'messages', erase: (workspaceId) => eraseMessages(store, workspaceId) },
    ...satellites.map((table) => ({ table })),
    { table: 'link_sets' },
    { table: 'link_clicks' },
    { table: 'variation_counts' },
    { table: 'uncounted_broadcasts' },
    { table: 'suppressions' },
    { table: 'sending_rates' },
    { table: 'event_interests' },
    { table: 'idempotency_keys' },
  ];
}

/**
 * The workspace is hidden from the planner, so that what belongs to a message is found by its key.
 */
async function eraseMessages(store: Store, workspaceId: string): Promise<number> {
  const beside = satellites.map(
    (table) => `gone_${table} as (
      delete from ${table} t using gone where t.message_id = gone.id and t.workspace_id || '' = $1
    )`,
  );
  const [row] = await query<{ count: number }>(
    store.fork(),
    `with gone as materialized (
       delete from messages where ctid = any(array(
         select ctid from messages where workspace_id = $1 limit ${messagesAtOnce}
       )) returning id
     ), ${beside.join(', ')}
     select count(*)::int as count from gone`,
    [workspaceId],
  );
  return row?.count ?? 0;
}
