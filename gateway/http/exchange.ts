import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestIdFrom, requestIdHeader } from '#lib/rpc/request-id.ts';
import type { ClientAddress } from './client-address.ts';

/**
 * One request and its response. A class, since V8 puts the getters of an object literal into the
 * old generation, where they keep the whole request: each minor collection would copy all requests
 * since the last one.
 */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The request id, the client's own where it is valid. */
  readonly id: string;
  readonly path: string;
  readonly clientAddress: string;
  /** Whom limits count it for: a user or a key; its address before that is known. */
  caller: string;
  readonly #search: string;
  // Made on first use: opens and clicks arrive by thousands a second and need neither.
  #query: URLSearchParams | undefined;
  #signal: AbortSignal | undefined;
  #held: (() => void)[] | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, clientAddress: ClientAddress) {
    this.request = request;
    this.response = response;
    this.id = requestIdFrom(request.headers[requestIdHeader]);
    [this.path, this.#search] = splitOnce(request.url ?? '', '?');
    this.clientAddress = clientAddress(request);
    this.caller = this.clientAddress;
  }

  get isUnauthenticated(): boolean {
    return this.caller === this.clientAddress;
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#search);
    return this.#query;
  }

  /** Calls `giveBack` once the answer was sent or the client has gone, or on `release` before. */
  hold(giveBack: () => void): void {
    if (this.response.closed) {
      giveBack();
      return;
    }
    if (!this.#held) {
      this.#held = [];
      this.response.once('close', () => this.release());
    }
    this.#held.push(giveBack);
  }

  release(): void {
    for (const giveBack of this.#held?.splice(0) ?? []) giveBack();
  }

  /** Aborted when the client disconnects before it was answered. */
  get signal(): AbortSignal {
    this.#signal ??= goneSignal(this.response);
    return this.#signal;
  }
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
