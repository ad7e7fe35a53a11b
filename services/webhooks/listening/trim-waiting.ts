import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { deleteDeliveries } from '../matching/delete-deliveries.ts';
import type { ListenerKey } from './listener.ts';

const stepRows = 5_000;
const stepsMaxDefault = 20;

/**
 * Deletes what waits for a listener beyond `most`, the oldest first, and counts it as dropped. A
 * step has the listener's row, which a call that takes events waits for.
 */
export async function trimWaiting(
  store: Pick<Store, 'fork'>,
  key: ListenerKey,
  { most, stepsMax = stepsMaxDefault }: { most: number; stepsMax?: number },
): Promise<void> {
  for (let step = 1; step <= stepsMax; step += 1) {
    if ((await trimStep(store, key, most)) < stepRows) return;
  }
}

const waiting = `deliveries where workspace_id = $1 and subscription_id = $2 and status = 'waiting'`;
const chosen = `select id from ${waiting} and (created_at, id) <= (
    select created_at, id from ${waiting} order by created_at desc, id desc offset $3 limit 1
  )
  order by created_at, id limit ${stepRows}`;

function trimStep(
  store: Pick<Store, 'fork'>,
  { workspaceId, id }: ListenerKey,
  most: number,
): Promise<number> {
  return store.fork().transactional(async (em) => {
    const found = await query(
      em,
      'select 1 from listeners where workspace_id = $1 and id = $2 for no key update',
      [workspaceId, id],
    );
    if (found.length === 0) return 0;
    const count = await deleteDeliveries(em, chosen, [workspaceId, id, most]);
    if (count > 0) {
      await query(
        em,
        'update listeners set dropped = least(dropped::bigint + $3, 2147483647) where workspace_id = $1 and id = $2',
        [workspaceId, id, count],
      );
    }
    return count;
  });
}
