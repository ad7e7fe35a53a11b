import type { Pool } from 'pg';
import { secondsSince } from './calls.ts';
import { gauge, seconds } from './metrics.ts';

const waits = seconds(
  'db_client_connection_wait_time_seconds',
  'How long it took to get a connection of a pool.',
  ['pool'],
);

type Measured = { pool: Pool; pending: number };

const pools = new Map<string, Measured>();

gauge(
  {
    name: 'db_client_connection_count',
    help: 'Connections of a pool that are in use or idle.',
    labelNames: ['pool', 'state'],
  },
  (set) => {
    for (const [name, { pool }] of pools) {
      set(pool.idleCount, { pool: name, state: 'idle' });
      set(pool.totalCount - pool.idleCount, { pool: name, state: 'used' });
    }
  },
);
gauge(
  {
    name: 'db_client_connection_max',
    help: 'Connections that a pool may have.',
    labelNames: ['pool'],
  },
  (set) => {
    for (const [name, { pool }] of pools) set(pool.options.max ?? 10, { pool: name });
  },
);
gauge(
  {
    name: 'db_client_connection_pending_requests',
    help: 'Callers that wait for a connection of a pool.',
    labelNames: ['pool'],
  },
  (set) => {
    for (const [name, { pending }] of pools) set(pending, { pool: name });
  },
);

/** Measures a pool of connections under a name of ours. */
export function measurePool(name: string, pool: Pool): void {
  const own: Measured = { pool, pending: 0 };
  pools.set(name, own);
  const connect = pool.connect.bind(pool);
  const measured = async () => {
    const startedAtMs = performance.now();
    own.pending += 1;
    try {
      return await connect();
    } finally {
      own.pending -= 1;
      waits.observe({ pool: name }, secondsSince(startedAtMs));
    }
  };
  Object.assign(pool, { connect: measured });
}
