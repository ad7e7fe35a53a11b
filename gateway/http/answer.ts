import type { IncomingMessage, ServerResponse } from 'node:http';
import { discard } from '#lib/limits/discard.ts';
import type { Failure } from './refusal.ts';

/** The response to a client. */
export type HttpAnswer = {
  status: number;
  headers: Record<string, string>;
  body: string | Buffer;
  /** The body in gzip, if it is compressed already. */
  packed?: Buffer;
  /** Whether gzip would save nothing, as with pictures. */
  isDense?: boolean;
  /** In place of `body`, which is empty then: a body that is sent as it comes. */
  stream?: AsyncIterable<string>;
};

export function jsonAnswer(
  status: number,
  json: unknown,
  headers: Record<string, string> = {},
): HttpAnswer {
  return bodyAnswer(status, `${JSON.stringify(json)}\n`, headers);
}

/** An answer whose JSON is text already. */
export function bodyAnswer(
  status: number,
  body: string | Buffer,
  headers: Record<string, string>,
): HttpAnswer {
  return {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
    },
    body,
  };
}

/** JSON as it comes. */
export function streamAnswer(contentType: string, stream: AsyncIterable<string>): HttpAnswer {
  const headers = {
    'content-type': contentType,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  return { status: 200, headers, body: '', stream };
}

export function failureAnswer(
  { status, code, reason, text, details, headers, done }: Failure,
  requestId: string,
): HttpAnswer {
  const failure = { error: text, code, reason, request_id: requestId, details };
  return jsonAnswer(status, { ...failure, ...done }, headers);
}

// How long a client may go on sending a body that is discarded, so that it can read the answer:
// less than the time of a request.
const lingerMs = 20_000;

/**
 * Sends an answer, or the head of a stream. If the request's body was not read, the connection is
 * closed after it.
 */
export function send(request: IncomingMessage, response: ServerResponse, answer: HttpAnswer): void {
  if (response.headersSent || response.destroyed) return;
  const { body } = answer;
  const abandoned = !request.complete && hasBody(request);
  if (abandoned) response.setHeader('connection', 'close');
  if (answer.status !== 204 && answer.status !== 304 && !answer.stream)
    response.setHeader('content-length', Buffer.byteLength(body));
  response.writeHead(answer.status, answer.headers);
  if (request.method !== 'HEAD') {
    if (answer.stream) {
      response.flushHeaders();
      return;
    }
    response.write(body);
  }
  // After a 408 the rest of the body is not awaited.
  if (abandoned && answer.status !== 408) void endAfter(request, response);
  else response.end();
}

function hasBody(request: IncomingMessage): boolean {
  return (
    request.headers['transfer-encoding'] !== undefined ||
    Number(request.headers['content-length'] ?? 0) > 0
  );
}

/**
 * If the connection is closed while a client still sends, its system discards the answer unread. So
 * the rest is read and dropped for a moment first, slowly.
 */
async function endAfter(request: IncomingMessage, response: ServerResponse): Promise<void> {
  await restDiscarded(request);
  response.end();
}

/** Resolves when the rest of a body was read and dropped, or its time is over. */
export function restDiscarded(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, lingerMs);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    request.once('close', end).once('end', end);
    discard(request);
  });
}

/** For OPTIONS. */
export function emptyAnswer(allow: string, headers: Record<string, string> = {}): HttpAnswer {
  return { status: 204, headers: { allow, ...headers }, body: '' };
}
