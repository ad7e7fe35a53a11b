import { AsyncLocalStorage } from 'node:async_hooks';
import type { Pool, PoolClient } from 'pg';

type Call = { signal: AbortSignal; held: Set<PoolClient>; isOver: boolean };

const calls = new AsyncLocalStorage<Call>();

/**
 * Runs a call whose statements end with it: once it is cancelled or past its deadline, its
 * connections are closed, and PostgreSQL rolls back their transactions.
 */
export async function endingStatements<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  const call: Call = { signal, held: new Set(), isOver: false };
  const end = () => call.held.forEach(close);
  signal.addEventListener('abort', end);
  try {
    return await calls.run(call, run);
  } finally {
    // Work that continues after the answer belongs to no call.
    call.isOver = true;
    signal.removeEventListener('abort', end);
  }
}

/** Ties each connection of a pool to the call that uses it. */
export function tieToCalls(pool: Pool): void {
  const connect = pool.connect.bind(pool);
  const holders = new WeakMap<PoolClient, Call>();
  const connectForCall = async (): Promise<PoolClient> => {
    const client = await connect();
    const call = calls.getStore();
    if (!call || call.isOver) return client;
    holders.set(client, call);
    call.held.add(client);
    if (call.signal.aborted) close(client);
    return client;
  };
  pool.on('release', (_, client) => holders.get(client)?.held.delete(client));
  Object.assign(pool, { connect: connectForCall });
}

/** Closes a connection without waiting for its statement. */
function close(client: PoolClient): void {
  // A pool hands out whole clients; their type hides that they can be ended.
  if ('end' in client && typeof client.end === 'function') void client.end();
}
