import type { ErasedTable } from '#lib/postgres/erase.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { addWakes } from '../lifecycle/wake.ts';
import type { Dispatcher } from '../sending/dispatcher.ts';

type Needs = { store: Store; dispatcher: Dispatcher };

/** Tables with a workspace's data. A run whose subscription is gone ends. */
export function partsOf(context: Needs): readonly ErasedTable[] {
  return [
    { table: 'subscriptions', erase: (workspaceId) => eraseSubscriptions(context, workspaceId) },
    { table: 'deliveries' },
    { table: 'events' },
    { table: 'workspace_interests' },
    { table: 'idempotency_keys' },
  ];
}

/** A workspace has at most a hundred. */
async function eraseSubscriptions(
  { store, dispatcher }: Needs,
  workspaceId: string,
): Promise<number> {
  const rows = await store.fork().transactional(async (em) => {
    const gone = await query<{ id: string; is_waiting: boolean }>(
      em,
      `delete from subscriptions where workspace_id = $1
       returning id, next_wake_at is not null as is_waiting`,
      [workspaceId],
    );
    const waiting = gone.filter(({ is_waiting }) => is_waiting);
    await addWakes(
      em,
      waiting.map(({ id }) => ({ key: { workspaceId, id }, host: '' })),
    );
    return gone;
  });
  for (const { id } of rows) await dispatcher.recall({ workspaceId, id });
  return rows.length;
}
