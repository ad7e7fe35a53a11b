import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { byKey } from './claims.ts';

/** Says on messages that wait why they do, for `messages.get`. */
export async function noteHeld(
  store: Store,
  workspaceId: string,
  { ids, reason }: { ids: readonly string[]; reason: string },
): Promise<void> {
  if (ids.length === 0) return;
  await query(
    store.fork(),
    `with given as materialized (select $1::text as workspace_id, unnest($2::uuid[]) as id)
     update messages m set status_info = $3, updated_at = now() from given
     where ${byKey('m')} and m.status = 'deferred' and m.status_info is distinct from $3`,
    [workspaceId, ids, reason.slice(0, 255)],
  );
}
