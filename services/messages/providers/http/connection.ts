import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { connectorTo } from '#lib/outside/connector.ts';
import { reasonOf } from '#lib/outside/failure.ts';
import type { SenderHost } from '../provider.ts';
import type { ApiAnswer, ApiRequest } from './api.ts';

/** How a request ended. Reasons name no address. */
export type Exchanged =
  | { kind: 'answered'; answer: ApiAnswer }
  /** No connection could be opened. */
  | { kind: 'unreached'; reason: string }
  /** The connection ended before all of the request had left this machine. */
  | { kind: 'cut'; reason: string }
  /** The provider may have all of it. */
  | { kind: 'unanswered'; reason: string }
  /** Nothing was written: it was not to be written any more. */
  | { kind: 'withdrawn' };

export type ExchangeOptions = {
  /** Asked right before the request is written. */
  mayWrite: () => boolean;
  /** For all of the answer, from the first byte of the request on. */
  answerMs: number;
  /** An answer is read as far as this. */
  sizeMaxBytes: number;
};

/** As long as a connection to a mail server. */
const idleMs = 10_000;

/**
 * One connection at a time, and one request on it: so it is known how much of the request was
 * written when the connection ends. Opened by the first request, and again after it has ended.
 */
export class HttpConnection {
  readonly #client: Client;
  /** Writes that the kernel has not taken. */
  #unwritten = 0;
  /** Requests that were answered on this connection. */
  answered = 0;
  /** When the request that has no answer was begun; undefined between requests. */
  startedAtMs: number | undefined;

  constructor(origin: string, resolve: SenderHost['resolve']) {
    const connect = connectorTo(resolve);
    this.#client = new Client(origin, {
      allowH2: false,
      // The exchange has a time limit of its own, which an answer in drops does not prolong.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
      connect: (target, done) =>
        connect(target, (...[error, socket]) =>
          error ? done(error, null) : done(null, this.#watch(socket)),
        ),
    });
  }

  exchange(request: ApiRequest, options: ExchangeOptions): Promise<Exchanged> {
    const { path, headers, body } = request;
    this.startedAtMs = performance.now();
    return new Promise<Exchanged>((resolve) => {
      const isWritten = () => this.#unwritten === 0;
      const reading = new AnswerReader(options, { isWritten, done: resolve });
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      // Providers that compress answers unasked answer what nobody can read.
      const all = { 'user-agent': 'Postrider/1', 'accept-encoding': 'identity', ...headers };
      try {
        this.#client.dispatch({ path, method: 'POST', headers: all, body: bytes }, reading);
      } catch (error) {
        reading.fail(error);
      }
    }).finally(() => {
      this.startedAtMs = undefined;
    });
  }

  /** Ends the connection, whatever is under way on it. */
  close(): void {
    this.#client.destroy().catch(() => undefined);
  }

  #watch<S extends Socket>(socket: S): S {
    this.#unwritten = 0;
    this.answered = 0;
    const { write } = socket;
    socket.write = (...args: unknown[]) => {
      this.#unwritten += 1;
      const written = (error?: Error | null) => {
        if (!error) this.#unwritten -= 1;
      };
      return Reflect.apply(write, socket, [...args, written]);
    };
    return socket;
  }
}

/** Reads one answer, in one time limit and up to a size. */
class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions;
  readonly #host: { isWritten: () => boolean; done: (exchange: Exchanged) => void };
  #timer: NodeJS.Timeout | undefined;
  #hasBegun = false;
  #isOver = false;
  #status = 0;
  #headers: ApiAnswer['headers'] = {};
  #chunks: Buffer[] = [];
  #sizeBytes = 0;

  constructor(
    options: ExchangeOptions,
    host: { isWritten: () => boolean; done: (exchange: Exchanged) => void },
  ) {
    this.#options = options;
    this.#host = host;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const { mayWrite, answerMs } = this.#options;
    if (!mayWrite()) {
      this.#finish({ kind: 'withdrawn' });
      controller.abort(new Error('withdrawn'));
      return;
    }
    this.#hasBegun = true;
    this.#timer = setTimeout(() => {
      this.#finishUnanswered(`no answer within ${answerMs / 1_000} s`);
      controller.abort(new Error('late'));
    }, answerMs);
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: ApiAnswer['headers'],
  ): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes <= this.#options.sizeMaxBytes) return;
    this.#answer();
    controller.abort(new Error('long'));
  }

  onResponseEnd(): void {
    this.#answer();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  fail(error: unknown): void {
    const reason = reasonOf(error);
    if (this.#hasBegun) this.#finishUnanswered(reason);
    else this.#finish({ kind: 'unreached', reason });
  }

  #finishUnanswered(reason: string): void {
    // A status says enough where the rest of a refusal does not come.
    if (this.#status >= 300) this.#answer();
    else this.#finish({ kind: this.#host.isWritten() ? 'unanswered' : 'cut', reason });
  }

  #answer(): void {
    const bytes = Buffer.concat(this.#chunks).subarray(0, this.#options.sizeMaxBytes);
    const text = bytes.toString();
    const answer = { status: this.#status, headers: this.#headers, text, json: jsonOf(text) };
    this.#finish({ kind: 'answered', answer });
  }

  #finish(exchange: Exchanged): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#host.done(exchange);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
