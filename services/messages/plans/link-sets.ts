import { createHash } from 'node:crypto';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';

const idBytes = 8;

/**
 * Stores the link targets of a compiled template and returns the set's id. The same targets are
 * stored once.
 */
export async function saveLinks(
  store: Store,
  workspaceId: string,
  urls: readonly string[],
): Promise<Buffer> {
  const digest = createHash('sha256').update(workspaceId).update('\0').update(JSON.stringify(urls));
  const id = digest.digest().subarray(0, idBytes);
  await query(
    store.fork(),
    `insert into link_sets (workspace_id, id, urls, created_at) values ($1, $2, $3::text[], now())
     on conflict do nothing`,
    [workspaceId, id, [...urls]],
  );
  return id;
}
