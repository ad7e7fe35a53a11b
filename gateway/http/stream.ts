import type { IncomingMessage, ServerResponse } from 'node:http';
import { ClientGone } from './body.ts';
import { Refusal } from './refusal.ts';

/** Why a stream was cut: its client has read nothing for too long. */
export class ReaderStalled extends Error {}

/** Limits streams, since each holds a page for as long as its client takes to read it. */
export class Streams {
  readonly #max: number;
  readonly #perCallerMax: number;
  readonly #byCaller = new Map<string, number>();
  #count = 0;

  constructor({ max, perCallerMax }: { max: number; perCallerMax: number }) {
    this.#max = max;
    this.#perCallerMax = perCallerMax;
  }

  /**
   * Counts one until its response is over; A caller is known by its token. Throws if there are too
   * many.
   */
  begin(response: ServerResponse, { headers }: IncomingMessage): void {
    if (response.closed) throw new ClientGone();
    const caller = headers.authorization ?? '';
    const own = this.#byCaller.get(caller) ?? 0;
    if (own >= this.#perCallerMax || this.#count >= this.#max) {
      throw new Refusal(429, 'resource_exhausted', 'too many exports run at once', {
        'retry-after': '5',
      });
    }
    this.#set(caller, 1);
    response.once('close', () => this.#set(caller, -1));
  }

  #set(caller: string, difference: number): void {
    this.#count += difference;
    const own = (this.#byCaller.get(caller) ?? 0) + difference;
    if (own > 0) this.#byCaller.set(caller, own);
    else this.#byCaller.delete(caller);
  }
}

/**
 * Sends a body as it comes, and asks for more only when the client has read what is there. If it
 * fails, the connection is cut, so that the client can tell.
 */
export async function sendStream(
  response: ServerResponse,
  chunks: AsyncIterable<string>,
  stallMs: number,
): Promise<void> {
  try {
    for await (const chunk of chunks) {
      if (response.destroyed) return;
      if (!response.write(chunk)) await taken(response, stallMs);
    }
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  }
}

/** Resolves as well when the client has gone. */
function taken(response: ServerResponse, stallMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      response.off('drain', go).off('close', go);
      settle();
    };
    const go = () => end(resolve);
    const timer = setTimeout(() => end(() => reject(new ReaderStalled())), stallMs);
    response.on('drain', go).on('close', go);
  });
}
