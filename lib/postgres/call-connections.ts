import { AsyncLocalStorage } from 'node:async_hooks';
import type { Pool, PoolClient } from 'pg';
import { ConcurrencyLimiter, limitsOfPool } from '#lib/limits/concurrency-limiter.ts';

type Call = {
  signal: AbortSignal;
  /** The workspace whose share of the connections it takes. */
  tenant: string | undefined;
  held: Set<PoolClient>;
  isOver: boolean;
};

const calls = new AsyncLocalStorage<Call>();

/**
 * Runs a call whose statements end with it: once it is cancelled or past its deadline, its
 * connections are closed, and PostgreSQL rolls back their transactions. A call of a tenant gets its
 * connections in turn with those of others.
 */
export async function endingStatements<T>(
  { signal, tenant }: { signal: AbortSignal; tenant?: string | undefined },
  run: () => Promise<T>,
): Promise<T> {
  const call: Call = { signal, tenant, held: new Set(), isOver: false };
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

/** A statement may take 15 s; a server that is gone without a word is noticed by TCP much later. */
export const outlivingMaxMs = 60_000;

/**
 * Runs work that a call has begun and others share: its statements do not end with the call, but
 * after `maxMs`. With a tenant it gets its connections in turn with those of other tenants.
 */
export function outlivingCall<T>(
  run: () => Promise<T>,
  { tenant, maxMs = outlivingMaxMs }: { tenant?: string; maxMs?: number } = {},
): Promise<T> {
  return endingStatements({ signal: AbortSignal.timeout(maxMs), tenant }, run);
}

/** Ties each connection of a pool to the call that uses it. */
export function tieToCalls(pool: Pool): void {
  const connect = pool.connect.bind(pool);
  const limiter = new ConcurrencyLimiter(limitsOfPool(pool.options.max ?? 10));
  const holders = new WeakMap<PoolClient, { call: Call; leave: (() => void) | undefined }>();
  const connectForCall = async (): Promise<PoolClient> => {
    const call = calls.getStore();
    if (!call || isOver(call)) return connect();
    const leave = await enter(limiter, call);
    try {
      const client = await connect();
      // The call may have been answered meanwhile; what goes on is none of its business.
      if (isOver(call)) {
        leave?.();
        return client;
      }
      holders.set(client, { call, leave });
      call.held.add(client);
      if (call.signal.aborted) close(client);
      return client;
    } catch (error) {
      leave?.();
      throw error;
    }
  };
  pool.on('release', (_, client) => {
    const holder = holders.get(client);
    holders.delete(client);
    holder?.call.held.delete(client);
    holder?.leave?.();
  });
  Object.assign(pool, { connect: connectForCall });
}

/** A function, since the compiler takes a flag that was false to stay false. */
const isOver = (call: Call) => call.isOver;

/**
 * A call that has a connection gets another at once: if it waited for its turn, calls could wait
 * for each other.
 */
async function enter(limiter: ConcurrencyLimiter, { tenant, held, signal }: Call) {
  return tenant !== undefined && held.size === 0 ? limiter.enter(tenant, signal) : undefined;
}

/** Closes a connection without waiting for its statement. */
function close(client: PoolClient): void {
  // A pool hands out whole clients; their type hides that they can be ended.
  if ('end' in client && typeof client.end === 'function') void client.end();
}
