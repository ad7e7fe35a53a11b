import type { Pool, PoolClient } from 'pg';

/**
 * Gives a connection that breaks while it is in use back to its pool. Kysely 0.29 gives one back only
 * after a rollback that succeeded, which a broken connection's never does: each would be missing from
 * the pool for ever. To be removed when Kysely releases it whatever the rollback says.
 */
export function returnLostConnections(pool: Pool): void {
  const inUse = new WeakSet<PoolClient>();
  pool.on('acquire', (client) => inUse.add(client));
  pool.on('release', (_, client) => inUse.delete(client));
  pool.on('connect', (client) => {
    client.once('end', () => {
      if (!inUse.has(client)) return;
      client.release(true);
      // Its holder may still release it. The pool no longer knows it and would throw.
      client.release = () => {};
    });
  });
}
