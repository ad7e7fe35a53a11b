import { query } from './query.ts';
import type { EntityManager } from './store.ts';

/** More than one call adds, so that rows of keys that are never used again are deleted as well. */
const rowsMax = 500;

/** Deletes rows of a table whose `expires_at` is over, the oldest first. Waits for no lock. */
export async function deleteExpired(em: EntityManager, table: string, at: Date): Promise<void> {
  await query(
    em,
    `delete from ${table} where ctid = any(array(
       select ctid from ${table} where expires_at <= $1 order by expires_at limit ${rowsMax}
       for update skip locked
     ))`,
    [at],
  );
}
