import type { Pool, PoolClient } from 'pg';

const readOnly = '25006';

/** Its type hides the connection, and that it can be ended. */
type Client = PoolClient & {
  connection: { on(name: 'errorMessage', hear: (message: { code?: string }) => void): void };
  end(): Promise<void>;
};

/**
 * Closes a connection whose server refuses to write: in a failover the server may have become a
 * standby that keeps its connections, and the next one leads to the new primary.
 */
export function leaveReadOnly(pool: Pool): void {
  pool.on('connect', (given) => {
    const client = given as Client;
    client.connection.on('errorMessage', ({ code }) => {
      if (code === readOnly) void client.end();
    });
  });
}
