import {
  constants,
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import {
  type ClientConnection,
  type ConnectionLimits,
  limitConnections,
} from '#lib/limits/connections.ts';
import { discard } from '#lib/limits/discard.ts';
import { RateLimiter } from '#lib/limits/rate-limiter.ts';
import { forgetStreams } from '../http2-garbage.ts';
import type { ServerTls } from '../tls.ts';
import { messageMaxBytes } from '../wire.ts';

/** Streams over all connections. */
const streamsMax = 4_096;
/**
 * Half of all streams, so that no connection uses all. A gateway has 1,024 requests in flight, and
 * Node still counts streams for a moment after their peer has seen them end.
 */
const streamsPerConnectionMax = 2_048;
/**
 * Of a connection that no service has called on. All frames of a read are handled in one go, so
 * many streams would keep all other calls waiting.
 */
const streamsOfStrangersMax = 100;
/** Bytes that may wait to be sent on one connection; more calls are refused meanwhile. */
const waitingMaxMb = 256;

/** How long a refused message may continue to arrive. */
const lingerMs = 5_000;
/** How long a connection may take for its handshake, or its first frame. */
const beginMaxMs = 10_000;
/** How long the peer of an idle connection may take to close its side. */
const goodbyeMs = 1_000;
/** After this silence TCP checks whether the peer is still there. */
const keepAliveMs = 30_000;

type Server = Http2Server | Http2SecureServer;

type Take = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...rest: unknown[]) => void;

/**
 * Streams of one connection that its peer may reset: at once, and then a second. Beyond it nghttp2
 * ends the connection.
 */
export type ResetLimits = { burst: number; perSecond: number };

/**
 * A fair client resets at most the calls that it has in progress. Node allows 1,000, and 33 a
 * second.
 */
export const resetsOfClients: ResetLimits = { burst: 256, perSecond: 20 };
/** One connection of a gateway or a proxy carries what all of its clients cancel. */
export const resetsOfMany: ResetLimits = { burst: 20_000, perSecond: 5_000 };

/** Bytes of the headers of a call of a client. */
export const headersMaxBytes = 16 * 1024;

type Opening = { resets: ResetLimits; headersMaxBytes: number };

export function openServer(tls: ServerTls | undefined, { resets, ...limits }: Opening): Server {
  const options = {
    settings: {
      maxConcurrentStreams: streamsOfStrangersMax,
      maxHeaderListSize: limits.headersMaxBytes,
    },
    maxSessionMemory: waitingMaxMb,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMs,
    streamResetBurst: resets.burst,
    streamResetRate: resets.perSecond,
  };
  if (!tls) return createServer(options);
  const handshake = { handshakeTimeout: beginMaxMs, requestCert: tls.ca !== undefined };
  return createSecureServer({ ...options, ...tls, ...handshake });
}

const widened = new WeakSet<Http2Session>();

/**
 * Lets a connection have as many streams as one of our services needs, and keeps it however long it
 * is idle.
 */
export function widen(session: Http2Session | undefined): void {
  if (!session || session.destroyed || widened.has(session)) return;
  widened.add(session);
  session.settings({ maxConcurrentStreams: streamsPerConnectionMax });
}

const endedHere = new WeakSet<ServerHttp2Stream>();

/** Resets a stream. It does not count as one that its peer has reset. */
export function endStream(stream: ServerHttp2Stream, code: number): void {
  endedHere.add(stream);
  stream.close(code);
}

export type ServerLimits = Omit<ConnectionLimits, 'isBarred'> & {
  /** How long a connection may have no stream; those of our services stay. */
  idleMaxMs: number;
  /** How long a connection may take to begin HTTP/2. */
  beginMaxMs: number;
  /**
   * Resets count by address, which gets no connection while it has no resets left; otherwise by
   * connection.
   */
  barsAddresses: boolean;
  /** Of a call, 32 more for each field; beyond it a call is reset. */
  headersMaxBytes: number;
};

/**
 * For the port of a service: peers are few, share few addresses, and are not barred for each other.
 */
export const serverLimits: ServerLimits = {
  max: 1_024,
  perAddressMax: 512,
  idleMaxMs: 5 * 60_000,
  beginMaxMs,
  barsAddresses: false,
  // A gateway adds headers of its own to as many as it takes.
  headersMaxBytes: 2 * headersMaxBytes,
};

/** The bytes of names and values that follow each other, as HTTP/2 counts them. */
function sizeOf(rawHeaders: unknown): number {
  const texts: readonly string[] = Array.isArray(rawHeaders) ? rawHeaders : [];
  return texts.reduce((sum, text) => sum + text.length, 16 * texts.length);
}

/** A connection of HTTP/2, from its first frame. */
type Peer = {
  readonly id: string;
  open: number;
  readonly idle: NodeJS.Timeout;
  connection: ClientConnection | undefined;
};

/**
 * Passes on the streams of a server within its limits. By the rules of HTTP/2, refused streams are
 * safe to retry. A peer that resets more streams than it may is disconnected.
 */
export function serveStreams(server: Server, limits: ServerLimits, take: Take) {
  const resets = new RateLimiter(resetsOfClients.perSecond, { burst: resetsOfClients.burst });
  const isBarred = (network: string) => limits.barsAddresses && resets.isEmpty(network);
  const connections = limitConnections(server, { ...limits, isBarred });
  const peers = new Map<ServerHttp2Session, Peer>();
  const sockets = new Set<Socket>();
  let [open, lastId] = [0, 0];
  // A call that is on its way meanwhile is safe to retry, by the rules of HTTP/2.
  const endIfIdle = (session: ServerHttp2Session, peer: Peer) => {
    if (peer.open > 0 || widened.has(session) || session.destroyed) return;
    peer.connection ??= connections.of(session.socket);
    session.close();
    setTimeout(() => peer.connection?.end(), goodbyeMs).unref();
  };
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('session', (session) => {
    forgetStreams(session);
    const idle = setTimeout(() => endIfIdle(session, peer), limits.idleMaxMs).unref();
    lastId += 1;
    const peer: Peer = { id: String(lastId), open: 0, idle, connection: undefined };
    const begin = setTimeout(() => session.destroy(), limits.beginMaxMs).unref();
    peers.set(session, peer);
    session.once('remoteSettings', () => clearTimeout(begin));
    session.once('close', () => {
      clearTimeout(begin);
      clearTimeout(idle);
      open -= peer.open;
      peers.delete(session);
    });
    // A peer that breaks the connection is not an error of ours.
    session.on('error', () => session.destroy());
  });
  server.on('stream', (stream, headers, ...rest) => {
    // A broken stream is handled when it closes.
    stream.on('error', () => {});
    const { session } = stream;
    const peer = session && peers.get(session as ServerHttp2Session);
    if (!session || !peer) return;
    peer.connection ??= connections.of(session.socket);
    const network = widened.has(session) ? undefined : peer.connection?.network;
    if (network !== undefined && isBarred(network)) return disconnect(session);
    if (open >= streamsMax) return endStream(stream, constants.NGHTTP2_REFUSED_STREAM);
    open += 1;
    peer.open += 1;
    peer.connection?.count(1);
    stream.once('close', () => {
      if (!peers.has(session as ServerHttp2Session)) return;
      open -= 1;
      peer.open -= 1;
      peer.connection?.count(-1);
      if (widened.has(session)) peer.connection?.keep();
      if (peer.open === 0) peer.idle.refresh();
      const isCut = stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR;
      const isReset = isCut && !endedHere.has(stream) && !session.destroyed;
      if (!isReset || network === undefined) return;
      if (resets.take(limits.barsAddresses ? network : peer.id).isRefused) disconnect(session);
    });
    // The library applies its limit only once the client has acknowledged it.
    const [, rawHeaders]: readonly unknown[] = rest;
    if (sizeOf(rawHeaders) > limits.headersMaxBytes) {
      return endStream(stream, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    }
    take(stream, headers, ...rest);
  });
  return {
    /** Lets calls in progress end, and accepts no new ones. */
    close() {
      for (const session of peers.keys()) session.close();
    },
    /** Ends all sessions, also those that are closing, which would wait for their peers. */
    destroy() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function disconnect(session: Http2Session): void {
  session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
}

/**
 * Lets the rest of a message that was answered early arrive, within bounds: resetting its stream
 * would discard the answer, and some clients send everything before they read it.
 */
export function discardRest(stream: ServerHttp2Stream): void {
  if (stream.readableEnded) return;
  let leftBytes = messageMaxBytes;
  const end = () => endStream(stream, constants.NGHTTP2_CANCEL);
  const timer = setTimeout(end, lingerMs);
  stream.once('close', () => clearTimeout(timer));
  stream.on('data', (chunk: Buffer) => {
    leftBytes -= chunk.length;
    if (leftBytes < 0) end();
  });
  discard(stream);
}

export function listen(
  server: Server,
  { host, port }: { host: string; port: number },
): Promise<number> {
  return new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      const bound = server.address();
      done(bound && typeof bound === 'object' ? bound.port : port);
    });
  });
}
