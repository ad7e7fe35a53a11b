import {
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { Code, type ConnectError } from '@connectrpc/connect';
import { setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import { retryDefaultMs, retryLater } from '#lib/errors/errors.ts';
import type { Connection } from '#lib/rpc/client/connection.ts';
import { discardRest, endStream } from '#lib/rpc/server/http2.ts';
import { clientAddressHeader, clientAddressTokenHeader, peerAddressHeader } from '#lib/rpc/wire.ts';

/** Longer than the longest deadline that a service takes. */
const silentMaxMs = 11 * 60_000;

const unavailable = 'the service is not available';

const own = new Set([clientAddressHeader, clientAddressTokenHeader, peerAddressHeader]);

/**
 * The headers of a call, without those of its connection and those that only the gateway may send.
 */
export function passedHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const given = Object.entries(headers).filter(
    ([name]) => (name === ':path' || !name.startsWith(':')) && !own.has(name),
  );
  return { ...Object.fromEntries(given), ':method': 'POST' };
}

/**
 * Passes a call to a service and its answer back, as they come; either side ends the other. No more
 * is passed on after the answer.
 */
export function relay(
  stream: ServerHttp2Stream,
  connection: Connection,
  headers: OutgoingHttpHeaders,
): void {
  const upstream = connection(headers);
  const over = () => endAfter(stream, upstream);
  let trailers: OutgoingHttpHeaders = {};
  upstream.setTimeout(silentMaxMs, () => upstream.close(constants.NGHTTP2_CANCEL));
  upstream.on('response', ({ ':status': status, ...rest }, flags) => {
    if (stream.destroyed || stream.headersSent) return;
    const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    stream.respond({ ':status': status, ...rest }, { endStream, waitForTrailers: !endStream });
    if (!endStream) upstream.pipe(stream);
  });
  upstream.on('trailers', (given) => {
    trailers = given;
  });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.once('finish', () => {
    if (stream.readableEnded) return;
    stream.unpipe(upstream);
    upstream.off('close', over);
    upstream.close(constants.NGHTTP2_CANCEL);
    discardRest(stream);
  });
  upstream.on('error', () => {});
  upstream.once('close', over);
  stream.once('close', () => {
    if (!upstream.closed) upstream.close(constants.NGHTTP2_CANCEL);
  });
  stream.pipe(upstream);
}

/** For a service that ended without a status. */
function endAfter(stream: ServerHttp2Stream, { rstCode }: ClientHttp2Stream): void {
  if (stream.destroyed || stream.closed) return;
  if (!stream.headersSent)
    refuse(stream, retryLater(unavailable, Code.Unavailable, retryDefaultMs));
  else if (rstCode !== constants.NGHTTP2_NO_ERROR) endStream(stream, rstCode);
}

/** An answer of nothing but a status, as gRPC has it. */
export function refuse(stream: ServerHttp2Stream, error: ConnectError): void {
  if (stream.destroyed || stream.headersSent) return;
  const status = setTrailerStatus(new Headers(error.metadata), error);
  stream.once('finish', () => discardRest(stream));
  stream.respond(
    { ':status': 200, 'content-type': 'application/grpc', ...Object.fromEntries(status) },
    { endStream: true },
  );
}
