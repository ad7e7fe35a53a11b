import { Client, Connection } from '@temporalio/client';
import type { TemporalServer } from './config.ts';
import { tracedClient } from './traced.ts';

/**
 * A client that connects when it is first used, so that a service starts while Temporal is down.
 */
export function connectTemporal({ namespace, ...server }: TemporalServer): Client {
  return new Client({ connection: Connection.lazy(server), namespace, ...tracedClient() });
}
