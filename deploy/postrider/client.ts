import pg from 'pg';

/**
 * A connection of its own, not yet opened. If it is lost between two queries, the next one fails;
 * without a listener the loss would end the process.
 */
export function newClient(url: string, connectionTimeoutMillis: number): pg.Client {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis });
  client.on('error', () => {});
  return client;
}
