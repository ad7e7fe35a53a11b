/*
 * Takes mails of programs by SMTP (RFC 6409), by an API key as the password, and gives them to
 * messages as they came.
 *
 * Order: greeting, STARTTLS, the key, MAIL, RCPT, the mail, and 250 once its messages are stored. A
 * mail that cannot be stored now gets 4xx, and comes again; one that never can gets 5xx. Services
 * check the key again at each mail.
 *
 * Limits: connections in all, of an address, and of a workspace; the time up to the key, and from
 * one mail to the next, whatever bytes come; idle time; wrong passwords, recipients and commands of
 * a session; recipients, bytes and pieces of a mail; bytes in memory in all, of which a workspace
 * has half or an eighth of the rest. A mail beyond these is read to its end and not kept, but for
 * one in too many pieces, which ends its session.
 */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectError } from '@connectrpc/connect';
import type {
  SMTPServerAddress,
  SMTPServerAuthentication,
  SMTPServerDataStream,
  SMTPServerOptions,
  SMTPServerSession,
} from 'smtp-server';
import { addressFault, canonicalAddress } from '#lib/address.ts';
import { type ConnectionLimiter, createConnectionLimiter } from '#lib/limits/connections.ts';
import { FairShares } from '#lib/limits/fair-shares.ts';
import type { Log } from '#lib/log.ts';
import { clientNetwork } from '#lib/networks/client-network.ts';
import { Bulkhead } from '../admission/bulkhead.ts';
import { isWithin } from '../http/client-address.ts';
import { answer } from '../smtp/answer.ts';
import type { MailCertificate } from '../smtp/certificate.ts';
import { MailBytes } from './mail-bytes.ts';
import type { MailTaker, RelayCaller } from './mail-taker.ts';
import { RelayServer } from './relay-server.ts';
import * as replies from './replies.ts';

export type RelayOptions = {
  host: string;
  /** Undefined for none. */
  ports: { smtp?: number | undefined; smtps?: number | undefined };
  hostname: string;
  certificate: MailCertificate;
  allowsPlaintext: boolean;
  /** Ranges in CIDR notation, whose connections begin with a header of the PROXY protocol. */
  proxies: readonly string[];
  taker: MailTaker;
  log: Log;
  limits?: Partial<typeof limitsDefault>;
};

export const limitsDefault = {
  connectionsMax: 500,
  /** Of one client address, or of one IPv6 /64. */
  connectionsOfAddressMax: 50,
  connectionsOfWorkspaceMax: 100,
  /** From the connection to the greeting: the header of a load balancer, and TLS. */
  arrivalMs: 10_000,
  greetingMs: 30_000,
  /** From the key, or the reply to a mail, to the end of the next one. */
  mailMs: 5 * 60_000,
  idleMs: 60_000,
  /** Before the reply to a wrong password. */
  wrongPasswordMs: 1_000,
  wrongPasswordsMax: 3,
  /** Wrong recipients of a session. */
  refusedMax: 20,
  recipientsMax: 50,
  /** Without the dots and the end that SMTP adds. */
  mailMaxBytes: 26_000_000,
  /** Of a mail for all its recipients, each of which has its own. */
  copiesMaxBytes: 52_000_000,
  /**
   * In which a mail comes: the library cuts it before each line that begins with a dot, which costs
   * more than all else about it.
   */
  piecesMax: 100_000,
  /** Of mails that arrive or are being stored. */
  heldMaxBytes: 128 * 1024 * 1024,
};

const closeMs = 20_000;
/** A mail is copied for the call. */
const timesHeld = 2;

export type RelayListener = {
  ports: { smtp: number | undefined; smtps: number | undefined };
  /** New connections see this one. */
  useCertificate(certificate: MailCertificate): void;
  stop(): Promise<void>;
};

export async function listenForRelay(options: RelayOptions): Promise<RelayListener> {
  const { ports, host } = options;
  const door = new RelayDoor(options);
  const open = async (port: number | undefined, secure: boolean) => {
    if (port === undefined) return undefined;
    const server = door.serverWith({ secure });
    await once(server.listen(port, host), 'listening');
    return server;
  };
  const smtp = await open(ports.smtp, false);
  const smtps = await open(ports.smtps, true);
  const servers = [smtp, smtps].flatMap((server) => server ?? []);
  const portOf = (server: RelayServer | undefined) =>
    server && (server.server.address() as AddressInfo).port;
  return {
    ports: { smtp: portOf(smtp), smtps: portOf(smtps) },
    useCertificate(certificate) {
      for (const server of servers) server.useCertificate(certificate);
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** Facts about a session beside those of the library. */
type Visit = {
  /** Of a client behind a load balancer, whose connections are counted by session. */
  network: string | undefined;
  caller: RelayCaller | undefined;
  wrongPasswords: number;
  refused: number;
};

class RelayDoor {
  readonly #options: RelayOptions;
  readonly #limits: typeof limitsDefault;
  readonly #isProxy: (address: string) => boolean;
  readonly #visits = new WeakMap<SMTPServerSession, Visit>();
  readonly #connections: ConnectionLimiter;
  readonly #ofNetworks: Bulkhead;
  readonly #ofWorkspaces: Bulkhead;
  readonly #held: FairShares;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#limits = { ...limitsDefault, ...options.limits };
    const { connectionsMax: max, connectionsOfAddressMax: perAddressMax } = this.#limits;
    this.#isProxy = isWithin(options.proxies);
    this.#connections = createConnectionLimiter({
      ...{ max, perAddressMax, isExempt: this.#isProxy },
    });
    this.#ofNetworks = new Bulkhead({ max, perCallerMax: perAddressMax });
    this.#ofWorkspaces = new Bulkhead({
      max,
      perCallerMax: this.#limits.connectionsOfWorkspaceMax,
    });
    this.#held = new FairShares(this.#limits.heldMaxBytes);
  }

  serverWith({ secure }: { secure: boolean }): RelayServer {
    const { certificate, hostname, allowsPlaintext, log } = this.#options;
    const limits = this.#limits;
    const server: RelayServer = new RelayServer(
      {
        ...{ certificate, isProxy: this.#isProxy },
        ...{ secure, name: hostname, banner: 'Postrider', logger: false },
        heloResponse: '%s',
        authMethods: ['PLAIN', 'LOGIN'],
        allowInsecureAuth: allowsPlaintext,
        authRequiredMessage: '5.7.0 an API key is needed as the password',
        hideENHANCEDSTATUSCODES: false,
        disabledCommands: ['XCLIENT', 'XFORWARD', 'HELP', 'VRFY'],
        disableReverseLookup: true,
        maxAllowedUnauthenticatedCommands: 20,
        maxCommandLength: 8_192,
        size: limits.mailMaxBytes,
        maxRecipients: limits.recipientsMax,
        socketTimeout: limits.idleMs,
        closeTimeout: closeMs,
        ...this.#handlers(() => server),
      },
      { ...limits, connections: this.#connections },
    );
    // A client that breaks off, or speaks no TLS.
    server.on('error', (error) => log.debug({ err: error }, 'a session of the relay ended'));
    return server;
  }

  #handlers(serverOf: () => RelayServer): SMTPServerOptions {
    return {
      onConnect: (session, done) => done(this.#begin(session, serverOf())),
      // At once: the library refuses a client that has spoken meanwhile.
      onSecure: (_socket, _session, done) => done(),
      onClose: (session) => {
        serverOf().forget(session);
        this.#end(session);
      },
      onAuth: (auth, session, done) => {
        this.#authenticate(serverOf(), auth, session).then(
          (caller) => done(null, { user: caller.workspaceId }),
          (error: Error) => done(error),
        );
      },
      // In a turn of its own: the library loses what is pipelined behind a mail otherwise.
      onMailFrom: (from, session, done) =>
        void setImmediate(() => done(this.#refuseMail(session, announcedBytes(from)))),
      onRcptTo: ({ address }, session, done) => done(this.#refuseRecipient(session, address)),
      onData: (stream, session, done) => {
        this.#take(serverOf(), stream, session).then(
          (text) => done(null, text),
          (error: Error) => done(error),
        );
      },
    };
  }

  #begin(session: SMTPServerSession, server: RelayServer): ReturnType<typeof answer> | undefined {
    const network = server.isProxied(session) ? clientNetwork(session.remoteAddress) : undefined;
    const hasRoom = network === undefined || this.#ofNetworks.enter(network);
    if (!hasRoom) return replies.tooManyConnections();
    this.#visits.set(session, { network, caller: undefined, wrongPasswords: 0, refused: 0 });
    return undefined;
  }

  #end(session: SMTPServerSession): void {
    const visit = this.#visits.get(session);
    if (!visit) return;
    this.#visits.delete(session);
    if (visit.network !== undefined) this.#ofNetworks.leave(visit.network);
    if (visit.caller) this.#ofWorkspaces.leave(visit.caller.workspaceId);
  }

  async #authenticate(
    server: RelayServer,
    { password }: SMTPServerAuthentication,
    session: SMTPServerSession,
  ): Promise<RelayCaller> {
    const { log, taker } = this.#options;
    const visit = this.#visitOf(session);
    let caller: RelayCaller | undefined;
    try {
      caller = await taker.callerOf(password ?? '', session.remoteAddress);
    } catch (error) {
      throw this.#replyTo(error, 'an API key could not be checked', log);
    }
    if (!caller) {
      visit.wrongPasswords += 1;
      await sleep(this.#limits.wrongPasswordMs, undefined, { ref: false });
      throw visit.wrongPasswords >= this.#limits.wrongPasswordsMax
        ? replies.tooManyWrong()
        : replies.badKey();
    }
    // The client may have left meanwhile.
    if (!this.#visits.has(session)) throw replies.tooManyConnections();
    // STARTTLS ends what came before it.
    if (visit.caller) this.#ofWorkspaces.leave(visit.caller.workspaceId);
    visit.caller = undefined;
    if (!this.#ofWorkspaces.enter(caller.workspaceId)) throw replies.tooManyConnections();
    visit.caller = caller;
    server.keep(session);
    server.expectWithin(session, this.#limits.mailMs);
    return caller;
  }

  /** Before it comes. A mail whose size is not said is refused as it comes. */
  #refuseMail(session: SMTPServerSession, bytes: number): Error | undefined {
    const { caller } = this.#visitOf(session);
    if (!caller || bytes === 0) return undefined;
    const verdict = this.#held.verdict(caller.workspaceId, timesHeld * bytes);
    return verdict === 'granted' ? undefined : replies.full();
  }

  #refuseRecipient(session: SMTPServerSession, address: string): Error | undefined {
    const visit = this.#visitOf(session);
    if (!canonicalAddress(address)) {
      visit.refused += 1;
      if (visit.refused > this.#limits.refusedMax) return replies.tooManyWrong();
      return answer(550, `5.1.3 ${addressFault(address)}`);
    }
    // The client sends it to the others by another transaction.
    const count = session.envelope.rcptTo.length + 1;
    const isTooMany =
      announcedBytes(session.envelope.mailFrom) * count > this.#limits.copiesMaxBytes;
    return isTooMany && count > 1 ? replies.tooManyRecipients() : undefined;
  }

  /** Resolves with the text of 250. */
  async #take(
    server: RelayServer,
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
  ): Promise<string> {
    const { taker, log } = this.#options;
    const { caller } = this.#visitOf(session);
    if (!caller) throw replies.badKey();
    const recipients = session.envelope.rcptTo.map(({ address }) => address);
    let heldBytes = 0;
    const holdFor = (bytes: number) => {
      const more = timesHeld * bytes - heldBytes;
      if (more <= 0) return true;
      if (this.#held.verdict(caller.workspaceId, more) !== 'granted') return false;
      this.#held.change(caller.workspaceId, more);
      heldBytes += more;
      return true;
    };
    try {
      // From the start: mails that come at once would otherwise refuse each other half-way.
      const hasRoom = holdFor(announcedBytes(session.envelope.mailFrom));
      const mail = await this.#read(stream, (bytes) => hasRoom && holdFor(bytes));
      server.suspend(session);
      const bytes = mail.behind(this.#received(session));
      const ids = await taker.relay(caller, { recipients, bytes, address: session.remoteAddress });
      return `2.0.0 queued as ${ids.join(' ')}`;
    } catch (error) {
      if (error instanceof TooManyPieces) {
        server.end(session, replies.tooManyPieces());
        throw replies.tooManyPieces();
      }
      throw this.#replyTo(error, 'a mail could not be taken', log);
    } finally {
      this.#held.change(caller.workspaceId, -heldBytes);
      server.expectWithin(session, this.#limits.mailMs);
    }
  }

  /** Reads a mail to its end; throws a reply for one that is too large, now or for good. */
  async #read(
    stream: SMTPServerDataStream,
    holdFor: (bytes: number) => boolean,
  ): Promise<MailBytes> {
    let mail = new MailBytes();
    let [pieces, bytes] = [0, 0];
    let refusal: Error | undefined;
    for await (const piece of stream as AsyncIterable<Buffer>) {
      pieces += 1;
      if (pieces > this.#limits.piecesMax) throw new TooManyPieces();
      if (refusal) continue;
      bytes += piece.length;
      if (stream.sizeExceeded) refusal = replies.tooLarge(this.#limits.mailMaxBytes);
      else if (pieces === 1 && continuesLine(piece)) refusal = replies.beginsWithSpace();
      else if (!holdFor(bytes)) refusal = replies.full();
      if (refusal) mail = new MailBytes();
      else mail.add(piece);
    }
    if (refusal) throw refusal;
    return mail;
  }

  /** RFC 5321, 4.4, without the client: machines and networks of tenants are their own. */
  #received({ id, secure, envelope, transaction }: SMTPServerSession): Buffer {
    const utf8 = 'smtpUtf8' in envelope && envelope.smtpUtf8 ? 'UTF8SMTP' : 'ESMTP';
    const at = new Date().toUTCString().replace('GMT', '+0000');
    const { hostname } = this.#options;
    const how = `${utf8}${secure ? 'S' : ''}A id ${id}.${transaction}`;
    return Buffer.from(`Received: by ${hostname} (Postrider) with ${how};\r\n\t${at}\r\n`);
  }

  #visitOf(session: SMTPServerSession): Visit {
    return (
      this.#visits.get(session) ?? {
        ...{ network: undefined, caller: undefined, wrongPasswords: 0, refused: 0 },
      }
    );
  }

  #replyTo(error: unknown, about: string, log: Log): Error {
    if (error instanceof Error && 'responseCode' in error) return error;
    const reply = replies.replyTo(ConnectError.from(error));
    if (replies.isOurs(reply)) log.error({ err: error }, about);
    return reply;
  }
}

/** The rest of the mail is not read. */
class TooManyPieces extends Error {}

/** As MAIL says; zero where it says nothing. */
function announcedBytes(from: SMTPServerAddress | false): number {
  const given = from === false ? undefined : from.args;
  return Number((given as { SIZE?: string } | undefined)?.SIZE ?? 0) || 0;
}

/** Of the line before it, which is ours. */
function continuesLine(mail: Buffer): boolean {
  return mail[0] === 0x20 || mail[0] === 0x09;
}
