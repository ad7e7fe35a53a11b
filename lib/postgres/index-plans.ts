import type { ClientBase, Pool } from 'pg';

const scansOfTables = ['seqscan', 'hashjoin', 'mergejoin'];
/** Does nothing behind a pooler, which hands out process ids of its own. */
const planSql = `select ${scansOfTables.map((each) => `set_config('enable_${each}', 'off', false)`).join(', ')}
  where pg_backend_pid() = $1`;

/**
 * Has a pool's connections find rows by index alone: the plan of a statement that was prepared on a
 * young table must not read all of it later. A connection of a pooler is shared with other pools of
 * the role, so it keeps their settings, and its statements must not be prepared. Answers whether a
 * connection may prepare.
 */
export function planByIndex(pool: Pool): (client: ClientBase) => boolean {
  const own = new WeakSet<ClientBase>();
  const onConnect = async (client: ClientBase & { processID?: number }): Promise<void> => {
    const { rowCount } = await client.query(planSql, [client.processID ?? 0]);
    if (rowCount) own.add(client);
  };
  Object.assign(pool.options, { onConnect });
  return (client) => own.has(client);
}
