import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';

/*
 * Bodies of messages whose request is gone. Processes of release 0.2 know no bodies: where they
 * delete a message's request, during an update, its body stays. May go in release 0.4.
 */

/** The body after which the next portion begins. */
export type BodyPlace = { message_id: string; workspace_id: string };

const firstPlace: BodyPlace = {
  message_id: '00000000-0000-0000-0000-000000000000',
  workspace_id: '',
};

/** Erases the orphaned ones of the next portion; gives its end, undefined after the last body. */
export async function eraseOrphaned(
  store: Store,
  { after = firstPlace, most = 200 }: { after?: BodyPlace | undefined; most?: number },
): Promise<BodyPlace | undefined> {
  const [last] = await query<BodyPlace>(
    store.fork(),
    `with looked_at as materialized (
       select message_id, workspace_id from message_bodies
       where (message_id, workspace_id) > ($1::uuid, $2) order by message_id, workspace_id limit $3
     ), erased as (
       delete from message_bodies b using looked_at l
       where b.message_id = l.message_id and b.workspace_id || '' = l.workspace_id and b.erase_at is null
         and not exists (
           select from message_requests r
           where r.message_id = l.message_id and r.workspace_id || '' = l.workspace_id
         )
     )
     select message_id, workspace_id from looked_at order by message_id desc, workspace_id desc limit 1`,
    [after.message_id, after.workspace_id, most],
  );
  return last;
}
