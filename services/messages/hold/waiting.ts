import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';

/** The reason of a message that the system may have sent before the restore. */
const inDoubt = 'not sent: in doubt after a hold';
const pageMax = 1_000;

const waiting = `notification_id is not null and created_at <= $1
  and (status = 'deferred' or (status = 'sending' and lease_until < now()))`;

/** Transactional messages that were accepted by then and have no outcome. */
export async function countWaiting(store: Store, acceptedBy: Date): Promise<number> {
  const [row] = await query<{ count: number }>(
    store.fork(),
    `select count(*)::int as count from messages where ${waiting}`,
    [acceptedBy],
  );
  return row?.count ?? 0;
}

/** Fails them, in portions; gives how many. */
export async function failWaiting(store: Store, acceptedBy: Date): Promise<number> {
  let failed = 0;
  for (;;) {
    const rows = await query(
      store.fork(),
      `with open as materialized (
         select workspace_id, id from messages where ${waiting} limit $2 for no key update skip locked
       )
       update messages m set status = 'failed', status_info = $3, failed_at = now(), updated_at = now(), due_at = null,
         owner = null, lease_until = null
       from open where m.workspace_id = open.workspace_id and m.id = open.id
       returning m.id`,
      [acceptedBy, pageMax, inDoubt],
    );
    failed += rows.length;
    if (rows.length < pageMax) return failed;
  }
}
