import {
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { Code, ConnectError } from '@connectrpc/connect';
import { messageMaxBytes } from '../wire.ts';
import type { Connection } from './connection.ts';

export type Call = {
  headers: OutgoingHttpHeaders;
  body: Uint8Array;
  signal: AbortSignal | undefined;
  timeoutMs: number;
};

export type CallAnswer = { headers: IncomingHttpHeaders & IncomingHttpStatusHeader; body: Buffer };

/** The peer could not be reached, or disconnected before it had answered. */
export class NoAnswer extends Error {}

/**
 * The peer refused the stream, since it is closing the connection, or the connection has no ids
 * left. Safe to retry.
 */
class Refused extends NoAnswer {}

/** Sends a call and waits for its answer, its deadline, or its cancellation. */
export async function exchange(connection: Connection, call: Call): Promise<CallAnswer> {
  try {
    return await send(connection, call);
  } catch (error) {
    if (error instanceof Refused) return send(connection, call);
    throw error;
  }
}

function send(connection: Connection, call: Call): Promise<CallAnswer> {
  const { signal, timeoutMs } = call;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(ConnectError.from(signal.reason, Code.Canceled));
    const stream = connection(call.headers);
    const end = (reason: unknown) => {
      reject(ConnectError.from(reason, Code.Canceled));
      stream.close(constants.NGHTTP2_CANCEL);
    };
    const late = () => end(new ConnectError('the call took too long', Code.DeadlineExceeded));
    const timer = setTimeout(late, timeoutMs);
    const leave = () => end(signal?.reason);
    signal?.addEventListener('abort', leave);
    stream.once('close', () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
    });
    receive(stream, resolve, reject);
    stream.end(call.body);
  });
}

function receive(
  stream: ClientHttp2Stream,
  resolve: (answer: CallAnswer) => void,
  reject: (error: Error) => void,
): void {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  let headers: CallAnswer['headers'] | undefined;
  let isAnswered = false;
  stream.once('response', (received) => {
    headers = received;
  });
  stream.on('data', (chunk: Buffer) => {
    sizeBytes += chunk.length;
    chunks.push(chunk);
    if (sizeBytes <= messageMaxBytes) return;
    reject(new ConnectError('the answer is too large', Code.ResourceExhausted));
    stream.close(constants.NGHTTP2_CANCEL);
  });
  stream.once('end', () => {
    // A stream that was reset ends as well.
    if (!headers || stream.rstCode !== constants.NGHTTP2_NO_ERROR) return;
    isAnswered = true;
    const [first] = chunks;
    resolve({ headers, body: first && chunks.length === 1 ? first : Buffer.concat(chunks) });
    // The server has answered, so it won't read the rest.
    if (!stream.writableFinished) stream.close(constants.NGHTTP2_CANCEL);
  });
  let isUnsent = false;
  // Any other error is handled by the close that follows.
  stream.once('error', (error: NodeJS.ErrnoException) => {
    isUnsent = error.code === 'ERR_HTTP2_OUT_OF_STREAMS';
  });
  stream.once('close', () => {
    // Creating an unused error would cost more than the rest of this function.
    if (isAnswered) return;
    const isRefused = isUnsent || stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
    reject(isRefused ? new Refused('refused') : new NoAnswer('closed'));
  });
}
