import type { Pool, PoolClient } from 'pg';

/**
 * Returns a connection that breaks while it is in use to its pool. Kysely 0.29 returns it only
 * after a successful rollback, which is impossible on a broken connection: the pool would lose each
 * of them for ever. To be removed when Kysely releases connections after failed rollbacks as well.
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
