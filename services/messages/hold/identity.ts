import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';

/**
 * Tells a database from its restored copy: a dump makes the table anew, a copy has another number,
 * another server has another identifier, and recovery to a moment, like every promotion of a
 * replica, begins a timeline.
 */
export async function identityOf(store: Store): Promise<string> {
  const [row] = await query<{ identity: string }>(
    store.fork(),
    `select concat_ws('/', s.system_identifier, c.timeline_id, d.oid, 'messages'::regclass::oid) as identity
     from pg_control_system() s, pg_control_checkpoint() c, pg_database d
     where d.datname = current_database()`,
    [],
  );
  if (!row) throw new Error('the database has no identity');
  return row.identity;
}
