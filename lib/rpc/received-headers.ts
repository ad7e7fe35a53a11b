import type { IncomingHttpHeaders } from 'node:http2';
import { trailerDemux } from '@connectrpc/connect/protocol-connect';

/**
 * The headers of a request or an answer as they came, without HTTP/2's pseudo-headers. Few of them
 * are read, and `Headers` checks each that it takes, so they are copied into one when they are
 * changed or listed.
 */
export class ReceivedHeaders implements Headers {
  /** Names are in lower case; the object has no prototype. */
  readonly #received: IncomingHttpHeaders;
  #copy: Headers | undefined;

  constructor(received: IncomingHttpHeaders) {
    this.#received = received;
  }

  get(name: string): string | null {
    if (this.#copy) return this.#copy.get(name);
    const value = this.#valueOf(name);
    return value === undefined ? null : String(value);
  }

  has(name: string): boolean {
    return this.#copy ? this.#copy.has(name) : this.#valueOf(name) !== undefined;
  }

  set(name: string, value: string): void {
    this.#copied().set(name, value);
  }

  append(name: string, value: string): void {
    this.#copied().append(name, value);
  }

  delete(name: string): void {
    this.#copied().delete(name);
  }

  getSetCookie(): string[] {
    return this.#copied().getSetCookie();
  }

  forEach(...given: Parameters<Headers['forEach']>): void {
    this.#copied().forEach(...given);
  }

  entries(): ReturnType<Headers['entries']> {
    return this.#copied().entries();
  }

  keys(): ReturnType<Headers['keys']> {
    return this.#copied().keys();
  }

  values(): ReturnType<Headers['values']> {
    return this.#copied().values();
  }

  [Symbol.iterator](): ReturnType<Headers['entries']> {
    return this.entries();
  }

  #valueOf(name: string): IncomingHttpHeaders[string] {
    return name.startsWith(':') ? undefined : this.#received[name.toLowerCase()];
  }

  #copied(): Headers {
    if (this.#copy) return this.#copy;
    const copy = new Headers();
    for (const [name, value] of Object.entries(this.#received)) {
      if (!name.startsWith(':') && value !== undefined) copy.set(name, String(value));
    }
    this.#copy = copy;
    return copy;
  }
}

/** The metadata of an answer: its headers, and its trailers by names without `trailer-`. */
export function metadataOf(received: IncomingHttpHeaders): [header: Headers, trailer: Headers] {
  const headers = new ReceivedHeaders(received);
  const hasTrailers = Object.keys(received).some((name) => name.startsWith('trailer-'));
  return hasTrailers ? trailerDemux(headers) : [headers, new Headers()];
}
