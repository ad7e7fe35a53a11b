import type { Transport } from '@connectrpc/connect';
import { connectToAll } from '#lib/rpc/client/client.ts';
import type { ClientTls } from '#lib/rpc/tls.ts';

/**
 * Transports to services by name. They add no token of their own. The replicas of a service are
 * called in turn.
 */
export function connectServices(
  addresses: ReadonlyMap<string, readonly string[]>,
  tls?: ClientTls,
): (service: string) => Transport {
  const transports = new Map<string, Transport>();
  for (const [service, replicas] of addresses) {
    transports.set(service, connectToAll(replicas, tls ? { tls } : {}));
  }
  return (service) => {
    const transport = transports.get(service);
    if (!transport) throw new Error(`no address for ${service}`);
    return transport;
  };
}
