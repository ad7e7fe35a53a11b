import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { ClientTls } from './tls.ts';

const pingIntervalMs = 2_000;
const answerMaxMs = 3_000;
// Node resets whoever is answered while more than this waits to be sent; by default that is one large call.
const waitingMaxMb = 512;

/** Starts a request; what goes wrong with it is told by its stream. */
export type Connection = (headers: OutgoingHttpHeaders) => ClientHttp2Stream;

/** One HTTP/2 connection to `host:port`: made for the first request, and anew when the last one ended. */
export function connectionTo(address: string, tls?: ClientTls): Connection {
  const url = `${tls ? 'https' : 'http'}://${address}`;
  let session: ClientHttp2Session | undefined;
  return (headers) => {
    // After a GOAWAY it is closed: what runs on it may end, what is new needs another one.
    if (!session || session.closed || session.destroyed) session = openSession(url, tls);
    const stream = session.request(headers);
    keepAlive(session, stream);
    return stream;
  };
}

function openSession(url: string, tls: ClientTls | undefined): ClientHttp2Session {
  const session = connect(url, { ...tls, maxSessionMemory: waitingMaxMb });
  // Who waits for an answer is told by its own stream.
  session.on('error', () => {});
  watch(session);
  return session;
}

/** Ends a connection whose peer is frozen or gone without a word, or that can't be made in time. */
function watch(session: ClientHttp2Session): void {
  const expect = () => setTimeout(giveUp, answerMaxMs).unref();
  // If it was our own process that stood still, what came meanwhile is read first.
  const giveUp = () => setImmediate(() => isHeard || session.destroy());
  let isHeard = false;
  let timer = expect();
  const ping = () => {
    if (session.destroyed) return;
    isHeard = false;
    timer = expect();
    session.ping(heard);
  };
  const heard = () => {
    isHeard = true;
    clearTimeout(timer);
    timer = setTimeout(ping, pingIntervalMs).unref();
  };
  session.once('connect', heard);
  session.once('close', () => clearTimeout(timer));
}

const callsOf = new WeakMap<ClientHttp2Session, number>();

/** Only a connection with calls keeps the process alive. */
function keepAlive(session: ClientHttp2Session, stream: ClientHttp2Stream): void {
  const change = (by: 1 | -1) => {
    const calls = (callsOf.get(session) ?? 0) + by;
    callsOf.set(session, calls);
    if (calls === 0) session.unref();
    else session.ref();
  };
  change(1);
  stream.once('close', () => change(-1));
}
