import type { Server, Socket } from 'node:net';
import { clientNetwork } from '#lib/client-network.ts';

type Connection = { socket: Socket; requests: number; held: Set<Connection> };

export type Connections = {
  /** Counts a request of the connection that is being handled: 1 when it begins, -1 when it ends. */
  count(socket: Socket, by: 1 | -1): void;
};

/**
 * Limits the connections of a client address. A new one replaces the one that has waited longest for
 * a whole request; if all are busy, it is refused.
 */
export function limitConnections(
  server: Server,
  { perAddressMax, isExempt }: { perAddressMax: number; isExempt(address: string): boolean },
): Connections {
  const byNetwork = new Map<string, Set<Connection>>();
  const open = new Map<string, Connection>();
  const known = new WeakMap<Socket, Connection>();
  server.on('connection', (socket: Socket) => {
    const { remoteAddress: address } = socket;
    if (address === undefined || isExempt(address)) return;
    const network = clientNetwork(address);
    const held = byNetwork.get(network) ?? new Set();
    if (held.size >= perAddressMax && !endWaiting(held)) return socket.destroy();
    const [connection, end] = [{ socket, requests: 0, held }, endOf(socket)];
    byNetwork.set(network, held.add(connection));
    open.set(end, connection);
    socket.once('close', () => {
      open.delete(end);
      held.delete(connection);
      if (held.size === 0 && byNetwork.get(network) === held) byNetwork.delete(network);
    });
  });
  return {
    count(socket, by) {
      // A request over TLS has a socket of its own, with the same remote address and port as the TCP socket.
      const connection = known.get(socket) ?? open.get(endOf(socket));
      if (!connection) return;
      known.set(socket, connection);
      connection.requests += by;
      // Last in the set: it has waited least.
      if (by === -1 && connection.held.delete(connection)) connection.held.add(connection);
    },
  };
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function endWaiting(held: Set<Connection>): boolean {
  for (const connection of held) {
    if (connection.requests > 0) continue;
    held.delete(connection);
    connection.socket.destroy();
    return true;
  }
  return false;
}
