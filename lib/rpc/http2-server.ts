import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type ServerHttp2Session,
} from 'node:http2';
import type { ServerTls } from './tls.ts';

const streamsPerConnectionMax = 1_000;
/** What may wait to be sent on one connection; more calls are refused meanwhile. */
const waitingMaxMb = 256;

type Server = Http2Server | Http2SecureServer;

export function openServer(tls: ServerTls | undefined): Server {
  const options = {
    settings: { maxConcurrentStreams: streamsPerConnectionMax },
    maxSessionMemory: waitingMaxMb,
  };
  if (!tls) return createServer(options);
  return createSecureServer({ ...options, ...tls, requestCert: tls.ca !== undefined });
}

export function trackSessions(server: Server): Set<ServerHttp2Session> {
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    // A peer that breaks the connection is not an error of ours.
    session.on('error', () => session.destroy());
  });
  return sessions;
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
