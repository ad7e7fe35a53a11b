import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import type { ClientConnection, ConnectionLimiter } from '#lib/limits/connections.ts';
import { shuttingDown, tooSlow } from './replies.ts';

type Connection = SMTPServer['connections'] extends Set<infer Each> ? Each : never;

type OpenSession = {
  connection: Connection;
  /** Undefined where it was closed meanwhile. */
  client: ClientConnection | undefined;
  deadline: NodeJS.Timeout | undefined;
};

export type RelaySessionLimits = {
  /** Of all servers of the relay. */
  connections: ConnectionLimiter;
  /** From the connection to the password. */
  greetingMs: number;
};

/** The reply to its mail goes out before a session is ended. */
const replyMs = 100;

/** An enhanced status code (RFC 3463) before a text. */
const ownCode = /^[245]\.\d{1,3}\.\d{1,3} /;

/**
 * The library's server with deadlines, which bytes do not extend, with connections that give way to
 * new ones until their client is known, and with status codes of our own in replies: the library
 * has one for each reply code.
 */
export class RelayServer extends SMTPServer {
  readonly #limits: RelaySessionLimits;
  #isStopping = false;
  readonly #sessions = new Map<SMTPServerSession, OpenSession>();

  constructor(options: SMTPServerOptions, limits: RelaySessionLimits) {
    super(options);
    this.#limits = limits;
    // A socket that is destroyed below its TLS handshake ends the process: the library then asks
    // for the protocol of what is no more.
    limits.connections.watch(this.server, (socket) => this._pendingSockets.get(socket) ?? socket);
  }

  override connect(...[socket, options]: Parameters<SMTPServer['connect']>): void {
    super.connect(socket, options);
    const connection = [...this.connections].at(-1);
    if (connection) this.#begin(connection, socket);
  }

  #begin(connection: Connection, socket: Socket | TLSSocket): void {
    const { session } = connection;
    const send = connection.send.bind(connection);
    connection.send = (code, data, context) => {
      const isOwn = typeof data === 'string' && ownCode.test(data);
      send(code, data, isOwn ? false : context);
    };
    const open = { connection, client: this.#limits.connections.of(socket), deadline: undefined };
    this.#sessions.set(session, open);
    this.expectWithin(session, this.#limits.greetingMs);
  }

  /** Its connection is closed. STARTTLS takes all listeners off a socket, which says it no more. */
  forget(session: SMTPServerSession): void {
    this.suspend(session);
    this.#sessions.get(session)?.client?.end();
    this.#sessions.delete(session);
  }

  /** Ends the session unless this is called again in time. */
  expectWithin(session: SMTPServerSession, withinMs: number): void {
    const open = this.#sessions.get(session);
    if (!open) return;
    clearTimeout(open.deadline);
    const [text, ms] = this.#isStopping ? [shuttingDown, replyMs] : [tooSlow, withinMs];
    open.deadline = setTimeout(() => open.connection.send(421, text), ms);
  }

  /** The client waits for us. */
  suspend(session: SMTPServerSession): void {
    const open = this.#sessions.get(session);
    clearTimeout(open?.deadline);
    if (open) open.deadline = undefined;
  }

  /** Ends the session with a reply, whatever its client still sends. */
  end(
    session: SMTPServerSession,
    { responseCode, message }: Error & { responseCode: number },
  ): void {
    const { connection } = this.#sessions.get(session) ?? {};
    connection?.send(responseCode, message);
    connection?.close();
  }

  /** Its client is known: no new connection takes its place. */
  keep(session: SMTPServerSession): void {
    this.#sessions.get(session)?.client?.keep();
  }

  /** Ends the sessions without a mail, and the others once theirs has its reply. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const closed = new Promise<void>((done) => this.close(() => done()));
    for (const { connection, deadline } of this.#sessions.values()) {
      const isIdle = deadline !== undefined && !connection.session.envelope?.mailFrom;
      if (isIdle) connection.send(421, shuttingDown);
    }
    await closed;
  }
}
