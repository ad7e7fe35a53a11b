import { Client, Connection } from '@temporalio/client';
import { tracedClient } from './traced.ts';

export type TemporalServer = { address: string; namespace: string };

/** A client that connects when it is first used, so that a service starts while Temporal is down. */
export function connectTemporal({ address, namespace }: TemporalServer): Client {
  return new Client({ connection: Connection.lazy({ address }), namespace, ...tracedClient() });
}
