/*
 * The way of a connection to its session: the header of the PROXY protocol, where it comes from a
 * load balancer, then TLS, where the port has it from the start.
 *
 * The library has such a way, which may end the process: it asks a TLS socket for its protocol when
 * the handshake has failed, and Node 24 ends with SIGSEGV if the TCP socket below was destroyed. So
 * TLS is that of Node's server, which asks for nothing.
 */

import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { ClientConnection, Connections } from '#lib/limits/connections.ts';
import type { MailCertificate } from '../smtp/certificate.ts';
import { type ProxiedClient, readProxyHeader } from '../smtp/proxy-header.ts';

type Options = {
  /** Undefined for a port without TLS from the start. */
  certificate: MailCertificate | undefined;
  isProxy(address: string): boolean;
  connections: Connections;
  /** From the connection to its session. */
  withinMs: number;
  /** Begins the session, on an open socket. */
  enter(socket: Socket, client: ProxiedClient | undefined): void;
};

type Arrival = {
  socket: Socket;
  deadline: NodeJS.Timeout;
  /** As the header says. */
  client: ProxiedClient | undefined;
};

export class Entrance {
  readonly #options: Options;
  readonly #arrivals = new Map<ClientConnection, Arrival>();
  /** It listens nowhere, and gets connections by its event. */
  readonly #tls: Server | undefined;

  constructor(options: Options) {
    this.#options = options;
    const { certificate } = options;
    if (!certificate) return;
    // Ours is shorter.
    const handshakeTimeout = 2 * options.withinMs;
    this.#tls = createServer({ ...certificate, handshakeTimeout }, (socket) => this.#enter(socket));
  }

  /** New handshakes see it. */
  useCertificate(certificate: MailCertificate): void {
    this.#tls?.setSecureContext(certificate);
  }

  /** A TCP connection, which is refused already if it is beyond a limit. */
  take(socket: Socket): void {
    const { connections, isProxy, withinMs } = this.#options;
    const connection = connections.of(socket);
    // Its client is gone again where it is not counted.
    if (socket.destroyed || !connection) return void socket.destroy();
    const deadline = setTimeout(() => socket.destroy(), withinMs);
    const arrival: Arrival = { socket, deadline, client: undefined };
    this.#arrivals.set(connection, arrival);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#forget(connection));
    const next = () => (this.#tls ? this.#tls.emit('connection', socket) : this.#enter(socket));
    if (!isProxy(socket.remoteAddress ?? '')) return void next();
    readHeader(socket, (client) => {
      arrival.client = client;
      next();
    });
  }

  /** Ends the connections that have no session yet. */
  close(): void {
    for (const { socket } of this.#arrivals.values()) socket.destroy();
  }

  #enter(socket: Socket | TLSSocket): void {
    const connection = this.#options.connections.of(socket);
    const arrival = connection && this.#forget(connection);
    if (!arrival || socket.destroyed) socket.destroy();
    else this.#options.enter(socket, arrival.client);
  }

  #forget(connection: ClientConnection): Arrival | undefined {
    const arrival = this.#arrivals.get(connection);
    clearTimeout(arrival?.deadline);
    this.#arrivals.delete(connection);
    return arrival;
  }
}

/** Ends a connection whose first bytes are no header. */
function readHeader(socket: Socket, done: (client: ProxiedClient | undefined) => void): void {
  let bytes: Buffer = Buffer.alloc(0);
  const read = () => {
    for (let more = socket.read(); more !== null; more = socket.read()) {
      bytes = Buffer.concat([bytes, more]);
      const header = headerOf(bytes);
      if (header === 'wrong') return void socket.destroy();
      if (!header) continue;
      socket.off('readable', read).off('end', end);
      if (bytes.length > header.length) socket.unshift(bytes.subarray(header.length));
      return done(header.client);
    }
  };
  const end = () => socket.destroy();
  socket.on('readable', read).on('end', end);
}

function headerOf(bytes: Buffer) {
  try {
    return readProxyHeader(bytes);
  } catch {
    return 'wrong';
  }
}
