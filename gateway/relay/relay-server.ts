import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import type { ClientConnection, ConnectionLimiter } from '#lib/limits/connections.ts';
import type { MailCertificate } from '../smtp/certificate.ts';
import { Entrance } from './entrance.ts';
import { shuttingDown, tooSlow } from './replies.ts';

type OpenSession = {
  connection: SMTPConnection;
  /** Undefined where it was closed meanwhile. */
  client: ClientConnection | undefined;
  deadline: NodeJS.Timeout | undefined;
};

export type RelaySessionLimits = {
  /** Of all servers of the relay. */
  connections: ConnectionLimiter;
  /** From the connection to the greeting. */
  arrivalMs: number;
  /** From the greeting to the password. */
  greetingMs: number;
};

export type RelayServerOptions = SMTPServerOptions & {
  secure: boolean;
  certificate: MailCertificate;
  /** Whether connections of an address begin with a header of the PROXY protocol. */
  isProxy(address: string): boolean;
};

/** The reply to its mail goes out before a session is ended. */
const replyMs = 100;

/** An enhanced status code (RFC 3463) before a text. */
const ownCode = /^[245]\.\d{1,3}\.\d{1,3} /;

/** Of the library, with a greeting at once, and status codes of our own in replies. */
class RelayConnection extends SMTPConnection {
  /**
   * The library greets after 100 ms, in which one who sends mail to anybody may give himself away.
   * Ours have a key.
   */
  override init(): void {
    this._setListeners(() => this.connectionReady());
  }

  /** The library has one status code for each reply code. */
  override send(...[code, data, context]: Parameters<SMTPConnection['send']>): void {
    const isOwn = typeof data === 'string' && ownCode.test(data);
    super.send(code, data, isOwn ? false : context);
  }
}

/**
 * The library's server with an entrance of our own, with deadlines, which bytes do not extend, and
 * with connections that give way to new ones until their client is known.
 */
export class RelayServer extends SMTPServer {
  readonly #limits: RelaySessionLimits;
  readonly #entrance: Entrance;
  #isStopping = false;
  readonly #sessions = new Map<SMTPServerSession, OpenSession>();

  constructor(
    { certificate, isProxy, ...options }: RelayServerOptions,
    limits: RelaySessionLimits,
  ) {
    super({ ...options, ...certificate });
    this.#limits = limits;
    const { connections, arrivalMs: withinMs } = limits;
    this.#entrance = new Entrance({
      ...{ connections, isProxy, withinMs },
      certificate: options.secure ? certificate : undefined,
      enter: (socket, client) => this.connect(socket, client),
    });
    this.server.removeAllListeners('connection');
    // First, since it refuses what is beyond the limits.
    connections.watch(this.server);
    this.server.on('connection', (socket) => this.#entrance.take(socket));
  }

  /** New connections see it. */
  useCertificate(certificate: MailCertificate): void {
    this.updateSecureContext({ ...certificate });
    this.#entrance.useCertificate(certificate);
  }

  override connect(...[socket, options]: Parameters<SMTPServer['connect']>): void {
    const connection = new RelayConnection(this, socket, options);
    const { session } = connection;
    const client = this.#limits.connections.of(socket);
    this.connections.add(connection);
    this.#sessions.set(session, { connection, client, deadline: undefined });
    this.expectWithin(session, this.#limits.greetingMs);
    connection.on('error', (error) => this.emit('error', error));
    connection.init();
  }

  /** Its connection is closed. STARTTLS takes all listeners off a socket, which says it no more. */
  forget(session: SMTPServerSession): void {
    this.suspend(session);
    this.#sessions.get(session)?.client?.end();
    this.#sessions.delete(session);
  }

  /** Whether its client may be one of many of the same peer. */
  isProxied(session: SMTPServerSession): boolean {
    return this.#sessions.get(session)?.client?.network === undefined;
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
    this.#entrance.close();
    for (const { connection, deadline } of this.#sessions.values()) {
      const isIdle = deadline !== undefined && !connection.session.envelope?.mailFrom;
      if (isIdle) connection.send(421, shuttingDown);
    }
    await closed;
  }
}
