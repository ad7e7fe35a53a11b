import type { EntityManager } from '@mikro-orm/postgresql';
import type { ClientBase, Pool } from 'pg';
import { prepared } from './prepared.ts';
import { query } from './query.ts';

const scansOfTables = ['seqscan', 'hashjoin', 'mergejoin'];
const planSql = (isLocal: boolean) =>
  `select ${scansOfTables.map((each) => `set_config('enable_${each}', 'off', ${isLocal})`).join(', ')}`;
/** Does nothing behind a pooler, which hands out process ids of its own. */
const planOwnSql = `${planSql(false)} where pg_backend_pid() = $1`;
const planTransactionSql = prepared(planSql(true));

/**
 * Has a pool's connections find rows by index alone: the plan of a statement that was prepared on a
 * young table must not read all of it later. A connection of a pooler is shared with other pools of
 * the role, so it keeps their settings, and its statements must not be prepared. Answers whether a
 * connection may prepare.
 */
export function planByIndex(pool: Pool): (client: ClientBase) => boolean {
  const own = new WeakSet<ClientBase>();
  const onConnect = async (client: ClientBase & { processID?: number }): Promise<void> => {
    const { rowCount } = await client.query(planOwnSql, [client.processID ?? 0]);
    if (rowCount) own.add(client);
  };
  Object.assign(pool.options, { onConnect });
  return (client) => own.has(client);
}

/**
 * The same for a transaction, also behind a pooler. A statement that needs it must be run in no
 * other transaction: a plan that PostgreSQL keeps is of the settings with which it was made.
 */
export async function planTransactionByIndex(em: EntityManager): Promise<void> {
  await query(em, planTransactionSql, []);
}
