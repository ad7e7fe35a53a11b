import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Server, Socket } from 'node:net';
import { clientNetwork } from '#lib/networks/client-network.ts';

export type ConnectionLimits = {
  /** Connections of all clients together. */
  max: number;
  /** Connections of one client address, or of one IPv6 /64. */
  perAddressMax: number;
  /**
   * Addresses that stand for many clients, such as trusted proxies. They have no share of their
   * own.
   */
  isExempt?(address: string): boolean;
  /** Whether the new connections of an address, or of an IPv6 /64, are refused now. */
  isBarred?(network: string): boolean;
};

export type ClientConnection = {
  /** The client's address, or its IPv6 /64; undefined for an exempt address. */
  readonly network: string | undefined;
  /** Counts a request in progress: 1 when it begins, -1 when it ends. */
  count(by: 1 | -1): void;
  /** The connection is not ended for a new one from now on. */
  keep(): void;
  /** Gives up its place and destroys it; also for one that is closed already. */
  end(): void;
};

export type Connections = {
  /** Undefined once it is closed. */
  of(socket: Socket): ClientConnection | undefined;
};

/** Connections, the one that has waited longest for a request first. */
type Held = Set<OpenConnection>;

export type ConnectionLimiter = Connections & {
  watch(server: Server): void;
};

/**
 * Limits the connections of a server, together and by client address. Beyond a limit a new one
 * replaces the one that has waited longest for a request; if all are busy, the new one is refused.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): Connections {
  const limiter = createConnectionLimiter(limits);
  limiter.watch(server);
  return limiter;
}

/** The same for servers that share the limits. */
export function createConnectionLimiter(limits: ConnectionLimits): ConnectionLimiter {
  const { max, perAddressMax, isExempt = () => false, isBarred = () => false } = limits;
  const all: Held = new Set();
  const byNetwork = new Map<string, Held>();
  const byEnds = new Map<string, OpenConnection>();
  const known = new WeakMap<Socket, OpenConnection>();
  const take = (socket: Socket) => {
    const { remoteAddress: address } = socket;
    if (address === undefined) return;
    const network = isExempt(address) ? undefined : clientNetwork(address);
    if (network !== undefined && isBarred(network)) return socket.destroy();
    const held = (network !== undefined && byNetwork.get(network)) || new Set();
    const isOverShare = network !== undefined && held.size >= perAddressMax;
    if (isOverShare && !endWaiting(held)) return socket.destroy();
    if (all.size >= max && !endWaiting(all)) return socket.destroy();
    if (network !== undefined) byNetwork.set(network, held);
    const ends = endsOf(socket);
    const connection = new OpenConnection({ network, sets: [all, held] }, () => {
      if (byEnds.get(ends) === connection) byEnds.delete(ends);
      const isLast = network !== undefined && held.size === 0 && byNetwork.get(network) === held;
      if (isLast) byNetwork.delete(network);
      socket.destroy();
    });
    byEnds.set(ends, connection);
    socket.once('close', () => connection.end());
  };
  return {
    watch(server) {
      server.on('connection', take);
    },
    of(socket) {
      // TLS has a socket of its own, with the same addresses and ports as the TCP socket.
      const connection = known.get(socket) ?? byEnds.get(endsOf(socket));
      if (connection) known.set(socket, connection);
      return connection;
    },
  };
}

/**
 * The same for a server of HTTP: a request is in progress from its head to the end of its answer.
 */
export function limitHttpConnections(
  server: HttpServer | HttpsServer,
  limits: ConnectionLimits,
): void {
  const connections = limitConnections(server, limits);
  server.on('request', ({ socket }, response) => {
    const connection = connections.of(socket);
    connection?.count(1);
    response.once('close', () => connection?.count(-1));
  });
}

class OpenConnection implements ClientConnection {
  readonly network: string | undefined;
  readonly #sets: readonly Held[];
  readonly #ended: () => void;
  #requests = 0;
  #isKept: boolean;

  constructor(
    { network, sets }: { network: string | undefined; sets: readonly Held[] },
    ended: () => void,
  ) {
    this.network = network;
    this.#sets = sets;
    this.#ended = ended;
    this.#isKept = network === undefined;
    for (const set of sets) set.add(this);
  }

  get mayEnd(): boolean {
    return this.#requests === 0 && !this.#isKept;
  }

  count(by: 1 | -1): void {
    this.#requests += by;
    if (by === 1) return;
    // Last in its sets: it has waited least.
    for (const set of this.#sets) if (set.delete(this)) set.add(this);
  }

  keep(): void {
    this.#isKept = true;
  }

  end(): void {
    for (const set of this.#sets) set.delete(this);
    this.#ended();
  }
}

function endsOf({ remoteAddress, remotePort, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localPort}`;
}

function endWaiting(held: Held): boolean {
  for (const connection of held) {
    if (!connection.mayEnd) continue;
    connection.end();
    return true;
  }
  return false;
}
