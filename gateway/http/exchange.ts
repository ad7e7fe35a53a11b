import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestIdFrom, requestIdHeader } from '#lib/rpc/request-id.ts';
import type { ClientAddress } from './client-address.ts';

/** One request and its response. */
export type Exchange = {
  request: IncomingMessage;
  response: ServerResponse;
  /** The request id, the client's own where it is valid. */
  id: string;
  path: string;
  query: URLSearchParams;
  clientAddress: string;
  /** Aborted when the client disconnects before it was answered. */
  signal: AbortSignal;
};

export function createExchange(
  request: IncomingMessage,
  response: ServerResponse,
  clientAddress: ClientAddress,
): Exchange {
  const [path = '', query] = splitOnce(request.url ?? '', '?');
  // Made on first use: opens and clicks arrive by thousands a second and need neither.
  let signal: AbortSignal | undefined;
  let parsed: URLSearchParams | undefined;
  return {
    request,
    response,
    id: requestIdFrom(request.headers[requestIdHeader]),
    path,
    clientAddress: clientAddress(request),
    get query() {
      parsed ??= new URLSearchParams(query);
      return parsed;
    },
    get signal() {
      signal ??= goneSignal(response);
      return signal;
    },
  };
}

function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  const check = () => {
    if (!response.writableFinished) gone.abort();
  };
  if (response.closed) check();
  else response.once('close', check);
  return gone.signal;
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
