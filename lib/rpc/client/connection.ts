import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { isIP, type LookupFunction } from 'node:net';
import { forgetStreams, lightenBind } from '../http2-garbage.ts';
import type { ClientTls } from '../tls.ts';

lightenBind();

const pingIntervalMs = 2_000;
const answerMaxMs = 3_000;
// Node resets a stream that gets an answer while more than this waits to be sent; its default is
// one large call.
const waitingMaxMb = 512;

/** Starts a request; its errors are events of its stream. */
export type Connection = (headers: OutgoingHttpHeaders) => ClientHttp2Stream;

/**
 * HTTP/2 allows 2^30 calls on a connection. Far fewer, so that replacing a connection is routine
 * and tested.
 */
const callsMaxDefault = 1_000_000;

type Options = { tls?: ClientTls; callsMax?: number; ip?: string | undefined };

/**
 * One HTTP/2 connection to `host:port`: opened for the first request, and again when the last one
 * ended or has had its maximum of calls. Calls in progress stay on the connection that is replaced.
 */
export function connectionTo(
  address: string,
  { tls, callsMax = callsMaxDefault, ip }: Options = {},
): Connection {
  const url = `${tls ? 'https' : 'http'}://${address}`;
  let made: ReturnType<typeof countCalls> | undefined;
  return (headers) => {
    if (!made?.takesCalls()) made = countCalls(openSession(url, tls, ip), callsMax);
    return made.request(headers);
  };
}

function openSession(
  url: string,
  tls: ClientTls | undefined,
  ip: string | undefined,
): ClientHttp2Session {
  // The certificate is still checked against the name.
  const at = ip === undefined ? {} : { lookup: answerWith(ip) };
  const session = connect(url, { ...tls, ...at, maxSessionMemory: waitingMaxMb });
  forgetStreams(session);
  // Each waiting call gets the error from its own stream.
  session.on('error', () => {});
  watch(session);
  return session;
}

const answerWith =
  (ip: string): LookupFunction =>
  (_, { all }, answer) =>
    all ? answer(null, [{ address: ip, family: isIP(ip) }]) : answer(null, ip, isIP(ip));

/**
 * Ends a connection whose peer is frozen or disappeared silently, or that cannot be opened in time.
 */
function watch(session: ClientHttp2Session): void {
  const expect = () => {
    const bytesBefore = session.socket?.bytesRead;
    const giveUp = () => {
      if (isHeard || session.destroyed) return;
      // The answer may still be behind those of many calls.
      const answersCalls = !session.connecting && session.socket?.bytesRead !== bytesBefore;
      if (answersCalls) timer = expect();
      else session.destroy();
    };
    // If our own process was frozen, the answer may have arrived meanwhile: it is read first.
    return setTimeout(() => setImmediate(giveUp), answerMaxMs).unref();
  };
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

/**
 * Only a connection with calls keeps the process alive, and one that takes no more of them is
 * closed after the last.
 */
function countCalls(session: ClientHttp2Session, callsMax: number) {
  let [left, open] = [callsMax, 0];
  const end = (stream: ClientHttp2Stream) => {
    // It got no stream id, so there are none left.
    if (stream.id === undefined && !session.connecting) left = 0;
    open -= 1;
    if (open > 0) return;
    session.unref();
    if (left === 0) session.close();
  };
  return {
    // After a GOAWAY calls in progress may end, and new ones need another connection.
    takesCalls: () => left > 0 && !session.closed && !session.destroyed,
    request(headers: OutgoingHttpHeaders): ClientHttp2Stream {
      const stream = session.request(headers);
      left -= 1;
      open += 1;
      if (open === 1) session.ref();
      stream.once('close', () => end(stream));
      return stream;
    },
  };
}
