import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { deleteDeliveries } from '../matching/delete-deliveries.ts';
import type { ListenerKey } from './listener.ts';

const stepRows = 5_000;
const stepsMaxDefault = 20;
const pageRows = 1_000;

/** A listener for which more waits than may wait. */
export type OverfullListener = ListenerKey & { most: number };

const hasBeyond = (most: string) => `exists (
  select from deliveries
  where workspace_id = listener.workspace_id and subscription_id = listener.id and status = 'waiting'
  offset ${most}
)`;

/**
 * The listeners for which more than `most` waits, and those that have ended for which anything
 * does; of a workspace, or of all. Each other one costs a look at an index, and no call.
 */
export async function* overfullListeners(
  store: Pick<Store, 'fork'>,
  { most, workspaceId = null }: { most: number; workspaceId?: string | null },
): AsyncGenerator<OverfullListener> {
  let after = { workspaceId: '', id: '' };
  for (;;) {
    const rows = await query<OverfullListener>(
      store.fork(),
      `select workspace_id as "workspaceId", id, case when ended_at is null then $3::int else 0 end as most
       from listeners listener
       where (workspace_id, id) > ($1, $2) and ${workspaceId === null ? '$4::text is null' : 'workspace_id = $4'}
         and case when ended_at is null then ${hasBeyond('$3::int')} else ${hasBeyond('0')} end
       order by workspace_id, id limit ${pageRows}`,
      [after.workspaceId, after.id, most, workspaceId],
    );
    yield* rows;
    const last = rows.length === pageRows ? rows.at(-1) : undefined;
    if (!last) return;
    after = last;
  }
}

/**
 * Deletes what waits for a listener beyond `most`, the oldest first, and counts it as dropped. A
 * step has the listener's row, which a call that takes events waits for.
 */
export async function trimWaiting(
  store: Pick<Store, 'fork'>,
  listener: OverfullListener,
  { stepsMax = stepsMaxDefault } = {},
): Promise<void> {
  for (let step = 1; step <= stepsMax; step += 1) {
    if ((await trimStep(store, listener)) < stepRows) return;
  }
}

const waiting = `deliveries where workspace_id = $1 and subscription_id = $2 and status = 'waiting'`;
const chosen = `select id from ${waiting} and (created_at, id) <= (
    select created_at, id from ${waiting} order by created_at desc, id desc offset $3 limit 1
  )
  order by created_at, id limit ${stepRows}`;

function trimStep(
  store: Pick<Store, 'fork'>,
  { workspaceId, id, most }: OverfullListener,
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
