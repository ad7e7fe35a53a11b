import { randomUUID } from 'node:crypto';
import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

type Broken = readonly [status: number, code: string, text: string];

const brokenOtherwise: Broken = [400, 'invalid_argument', 'Invalid request'];
const brokenBy = new Map<string, Broken>([
  ['HPE_HEADER_OVERFLOW', [431, 'headers_too_large', 'Request headers too large']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, 'payload_too_large', 'Request body too large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'request_timeout', 'Request took too long to arrive']],
]);

/**
 * Answers requests that are not valid HTTP with the same JSON as all other errors. The time-out of
 * whole requests does not hold for connections for which `isLasting`.
 */
export function answerBrokenRequests(server: Server, isLasting: (socket: Duplex) => boolean): void {
  const answering = new WeakMap<Duplex, ServerResponse>();
  const note = (_request: unknown, response: ServerResponse) => {
    if (response.socket) answering.set(response.socket, response);
  };
  server.on('request', note).on('checkContinue', note);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // The server says so once for a request, and leaves its connection to this listener.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isLasting(socket)) return;
    const response = answering.get(socket);
    const halfAnswered = response?.headersSent === true && !response.writableFinished;
    if (!socket.writable || halfAnswered || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    // The rest of a broken request is never read, so the socket does not wait for its end.
    const answer = rawAnswer(brokenBy.get(error.code ?? '') ?? brokenOtherwise);
    socket.end(answer, () => socket.destroy());
  });
}

function rawAnswer([status, code, text]: Broken): string {
  const requestId = randomUUID();
  const body = `${JSON.stringify({ error: text, code, request_id: requestId })}\n`;
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    'cache-control: no-store',
    `x-request-id: ${requestId}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
