import type { EntityManager } from '@mikro-orm/postgresql';
import pg from 'pg';
import { query } from './query.ts';

/**
 * The settings that all connections of a service need. They belong to its role, since poolers
 * refuse connections that begin with settings. PostgreSQL checks during a statement whether its
 * client is connected; otherwise it would notice only at the end. With the default random_page_cost
 * it scans young tables, and for each job that is taken all that wait. It would compile statements
 * that seem dear, which takes longer than they do. A server may have other times, dates and
 * isolation than those that statements are written for. Names are as PostgreSQL spells them.
 */
export const roleSettings = {
  client_connection_check_interval: '1s',
  random_page_cost: '1.1',
  jit: 'off',
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  default_transaction_isolation: 'read committed',
};

const ownSql = `select array_agg(split_part(each, '=', 1)) as names
  from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase, unnest(s.setconfig) as each
  where d.datname = current_database() and s.setrole = current_user::regrole`;

/**
 * Gives the current role, in the current database, those settings that it lacks; a role may do this
 * for itself.
 */
export async function keepRoleSettings(em: EntityManager): Promise<void> {
  // Services that share a role take turns.
  await query(em, `select pg_advisory_xact_lock(hashtext('role settings'))`, []);
  const [own] = await query<{ names: string[] | null }>(em, ownSql, []);
  const lacking = Object.entries(roleSettings).filter(([name]) => !own?.names?.includes(name));
  if (lacking.length === 0) return;
  const [here] = await query<{ name: string }>(em, 'select current_database() as name', []);
  const database = pg.escapeIdentifier(here?.name ?? '');
  for (const [name, value] of lacking) {
    await query(em, `alter role current_user in database ${database} set ${name} = '${value}'`, []);
    // A role's settings apply to connections that begin later.
    await query(em, `set ${name} = '${value}'`, []);
  }
}
