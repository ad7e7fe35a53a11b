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
import { forgetStreams } from '../http2-garbage.ts';
import type { ServerTls } from '../tls.ts';
import { messageMaxBytes } from '../wire.ts';

/** Streams over all connections. */
const streamsMax = 4_096;
/**
 * Half of all streams, so that no connection uses all. A gateway has 1,024 requests in flight, and Node still counts
 * streams for a moment after their peer has seen them end.
 */
const streamsPerConnectionMax = 2_048;
/** Of a connection that no service has called on. All frames of a read are handled in one go, so many streams would keep all other calls waiting. */
const streamsOfStrangersMax = 100;
/** Bytes that may wait to be sent on one connection; more calls are refused meanwhile. */
const waitingMaxMb = 256;

/** How long a refused message may continue to arrive. */
const lingerMs = 5_000;
/** After this silence TCP checks whether the peer is still there. */
const keepAliveMs = 30_000;

type Server = Http2Server | Http2SecureServer;

type Take = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...rest: unknown[]) => void;

export function openServer(tls: ServerTls | undefined): Server {
  const options = {
    settings: { maxConcurrentStreams: streamsOfStrangersMax },
    maxSessionMemory: waitingMaxMb,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMs,
  };
  if (!tls) return createServer(options);
  return createSecureServer({ ...options, ...tls, requestCert: tls.ca !== undefined });
}

const widened = new WeakSet<Http2Session>();

/** Lets a connection have as many streams as one of our services needs. */
export function widen(session: Http2Session | undefined): void {
  if (!session || session.destroyed || widened.has(session)) return;
  widened.add(session);
  session.settings({ maxConcurrentStreams: streamsPerConnectionMax });
}

/** Passes on a limited number of streams at a time; by the rules of HTTP/2, refused streams are safe to retry. */
export function onStreams(server: Server, take: Take): void {
  let open = 0;
  server.on('stream', (stream, headers, ...rest) => {
    // A broken stream is handled when it closes.
    stream.on('error', () => {});
    if (open >= streamsMax) return stream.close(constants.NGHTTP2_REFUSED_STREAM);
    open += 1;
    stream.once('close', () => {
      open -= 1;
    });
    take(stream, headers, ...rest);
  });
}

/**
 * Lets the rest of a message that was answered early arrive, within bounds: resetting its stream would discard the
 * answer, and some clients send everything before they read it.
 */
export function discardRest(stream: ServerHttp2Stream): void {
  if (stream.readableEnded) return;
  let leftBytes = messageMaxBytes;
  const end = () => stream.close(constants.NGHTTP2_CANCEL);
  const timer = setTimeout(end, lingerMs);
  stream.once('close', () => clearTimeout(timer));
  stream.on('data', (chunk: Buffer) => {
    leftBytes -= chunk.length;
    if (leftBytes < 0) end();
  });
}

export function trackConnections(server: Server) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    forgetStreams(session);
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    // A peer that breaks the connection is not an error of ours.
    session.on('error', () => session.destroy());
  });
  return {
    /** Lets calls in progress end, and accepts no new ones. */
    close() {
      for (const session of sessions) session.close();
    },
    /** Ends all sessions, also those that are closing, which would wait for their peers. */
    destroy() {
      for (const socket of sockets) socket.destroy();
    },
  };
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
