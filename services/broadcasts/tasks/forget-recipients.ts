import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import { addForget } from '../audience/forget.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
import { isCounted } from '../broadcast/queries.ts';

const chunkSize = 500;
/** A part has at most a page of addresses. */
const partsAtOnce = 100;
const retryMs = 60_000;

/**
 * Deletes the addresses of a broadcast in chunks, so that no statement is long. A slice that is not
 * counted yet needs them for that, and is handled a minute later.
 */
export function forgetRecipients({ store }: { store: Store }) {
  return async (payload: unknown): Promise<void> => {
    const { workspaceId, id } = payload as BroadcastKey;
    const em = store.fork();
    const [slices] = await query<{ last: number | null }>(
      em,
      'select max(number) as last from slices where workspace_id = $1 and broadcast_id = $2',
      [workspaceId, id],
    );
    await deleteParts(em, { workspaceId, id });
    const last = slices?.last ?? -1;
    for (let first = 0; first <= last; first += chunkSize) {
      await query(
        em,
        `update slices set emails = null
         where workspace_id = $1 and broadcast_id = $2 and number between $3 and $4
           and emails is not null and settle_at is null`,
        [workspaceId, id, first, first + chunkSize - 1],
      );
    }
    if (await isCounted(em, { workspaceId, id })) return;
    await addForget(em, { workspaceId, id }, new Date(Date.now() + retryMs));
  };
}

/** Parts of an audience that will never be cut into slices. */
async function deleteParts(em: EntityManager, { workspaceId, id }: BroadcastKey): Promise<void> {
  let deleted: unknown[];
  do {
    deleted = await query(
      em,
      `delete from audience_parts where ctid = any (array(
         select ctid from audience_parts where workspace_id = $1 and broadcast_id = $2 limit $3
       )) returning 1`,
      [workspaceId, id, partsAtOnce],
    );
  } while (deleted.length > 0);
}
