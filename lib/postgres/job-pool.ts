import pg from 'pg';
import type { Log } from '../log.ts';
import { connectionStringOf } from './database-url.ts';
import { idleMaxMs } from './idle-connections.ts';
import { leaveReadOnly } from './read-only-connections.ts';
import { closeSilent, keepAlive } from './silent-connections.ts';

type Options = { url: string; service: string; connectionsMax: number; log: Pick<Log, 'warn'> };

/** Also for a connection that is in use: a runner whose jobs cannot be stored starts anew. */
const connectTimeoutMs = 30_000;

/**
 * Connections of what runs jobs. They may be cut at any time, also while the pool closes: without
 * listeners that stay, the error would end the process.
 */
export function openJobPool({ url, service, connectionsMax, log }: Options): pg.Pool {
  const pool = new pg.Pool({
    connectionString: connectionStringOf(url),
    application_name: `postrider-${service}-jobs`,
    max: connectionsMax,
    idleTimeoutMillis: idleMaxMs,
    connectionTimeoutMillis: connectTimeoutMs,
    ...keepAlive,
  });
  closeSilent(pool);
  leaveReadOnly(pool);
  const warn = (err: Error) => log.warn({ err }, 'a runner of jobs lost a connection');
  pool.on('error', warn);
  pool.on('connect', (client) => client.on('error', warn));
  return pool;
}
