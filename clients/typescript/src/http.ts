import { bytesOf } from './body.ts';
import { ApiError, ConnectionError, errorOf, PostriderError, TimeoutError } from './errors.ts';

export type ClientOptions = {
  /** The address of the gateway, such as `https://mail.example.com`. */
  baseUrl: string;
  /** An API key, or the token of a session. */
  token?: string | undefined;
  /** The workspace of requests that name none. */
  workspaceId?: string | undefined;
  /** For one attempt, until its answer is read. 30,000 if absent. */
  timeoutMs?: number | undefined;
  /** Attempts after the first one. 2 if absent. */
  retries?: number | undefined;
  /**
   * Of an answer that is read whole, and of a line of an export, decompressed. 64 MiB if absent. An
   * export itself has no limit.
   */
  answerMaxBytes?: number | undefined;
  /** In place of the global one. */
  fetch?: typeof fetch | undefined;
};

/** Of one call. */
export type RequestOptions = {
  /** Ends the call and its waits. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  retries?: number | undefined;
  /**
   * Makes repeats of a call one call, for a day. A call that may be repeated without harm has one
   * of its own, if none is given.
   */
  idempotencyKey?: string | undefined;
};

export type Operation = {
  verb: 'GET' | 'POST';
  path: string;
  /** Whether it takes an `Idempotency-Key`. */
  keyed?: true;
};

/** A body that `fetch` takes. */
export type Content = NonNullable<RequestInit['body']>;

export type Body = { content: Content; type: string };

/** A request whose workspace may be that of the client. */
export type InWorkspace<Request> = Request extends { workspace_id: string }
  ? Omit<Request, 'workspace_id'> & { workspace_id?: string }
  : Request;

type Call = { url: URL; operation: Operation; init: RequestInit; options: RequestOptions };

export const workspaceField = 'workspace_id';

const timeoutMsDefault = 30_000;
const retriesDefault = 2;
const answerMaxBytesDefault = 64 * 1_024 * 1_024;
const firstWaitMs = 200;
const waitMsMax = 60_000;
/** The longest time of a timer; a longer one would end at once. */
const timerMsMax = 2_147_483_647;

/**
 * Of a stream, which cannot be sent again after a redirect. Without `window: null` and
 * `redirect: 'error'`, Node.js keeps all that it has sent in memory for a redirect.
 */
const streamInit = { duplex: 'half', redirect: 'error', window: null } as const;

/** Calls operations, and repeats a call where that cannot do it twice. */
export class Http {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Calls an operation with JSON, or with the query if it reads. */
  async call<Answer>(
    operation: Operation,
    request: object,
    options: RequestOptions = {},
  ): Promise<Answer> {
    const all = this.#inWorkspace(request);
    const isRead = operation.verb === 'GET';
    const answer = await this.#answer(
      operation,
      isRead ? all : {},
      isRead ? undefined : { content: jsonOf(all), type: 'application/json' },
      { options, isWhole: true },
    );
    try {
      return (await answer.json()) as Answer;
    } catch {
      throw new PostriderError(`${operation.verb} ${operation.path} answered no JSON`);
    }
  }

  /** Reads an answer of any length; the time-out ends with its head. */
  async stream(
    operation: Operation,
    query: object,
    options: RequestOptions = {},
    body?: Body,
  ): Promise<ReadableStream<Uint8Array>> {
    const answer = await this.#answer(operation, this.#inWorkspace(query), body, {
      options,
      isWhole: false,
    });
    if (!answer.body) throw new ConnectionError('the answer has no body');
    return answer.body;
  }

  /** Each line of an answer in JSON lines. Throws if the answer is cut. */
  async *lines<Item>(
    operation: Operation,
    query: object,
    options?: RequestOptions,
    body?: Body,
  ): AsyncGenerator<Item, void, undefined> {
    const { answerMaxBytes = answerMaxBytesDefault } = this.#options;
    const decoder = new TextDecoder();
    let rest = '';
    for await (const bytes of chunksOf(await this.stream(operation, query, options, body))) {
      const [end = '', ...lines] = decoder.decode(bytes, { stream: true }).split('\n');
      rest += end;
      for (const next of lines) {
        if (rest !== '') yield itemOf<Item>(rest);
        rest = next;
      }
      if (rest.length > answerMaxBytes) {
        throw new PostriderError(`a line of the answer is longer than ${answerMaxBytes} bytes`);
      }
    }
    rest += decoder.decode();
    if (rest !== '') yield lastOf<Item>(rest);
  }

  /** Operations that are about no workspace ignore it. */
  #inWorkspace(request: object): Record<string, unknown> {
    const { workspaceId } = this.#options;
    if (workspaceId === undefined) return { ...request };
    const all: Record<string, unknown> = { [workspaceField]: workspaceId, ...request };
    all[workspaceField] ??= workspaceId;
    return all;
  }

  async #answer(
    operation: Operation,
    query: Record<string, unknown>,
    body: Body | undefined,
    { options, isWhole }: { options: RequestOptions; isWhole: boolean },
  ): Promise<Response> {
    const { token, retries = retriesDefault } = this.#options;
    const url = new URL(this.#options.baseUrl);
    // A gateway may be below a path of its host.
    url.pathname = `${url.pathname.replace(/\/+$/, '')}${operation.path}`;
    for (const [name, value] of Object.entries(query)) {
      for (const each of [value].flat()) {
        if (each !== undefined && each !== null) url.searchParams.append(name, String(each));
      }
    }
    const key = operation.keyed ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
    const init: RequestInit = {
      method: operation.verb,
      // A redirected write would become a read, and the token would go elsewhere.
      redirect: 'manual',
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body ? { 'content-type': body.type } : {}),
        ...(body && !isWhole ? { accept: 'application/x-ndjson' } : {}),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body ? { body: body.content } : {}),
      ...(body?.content instanceof ReadableStream ? streamInit : {}),
    };
    // A file is sent once: its stream is used up.
    const left = body && !isWhole ? 0 : (options.retries ?? retries);
    return this.#attempts({ url, operation, init, options }, isWhole, left);
  }

  async #attempts(call: Call, isWhole: boolean, retries: number): Promise<Response> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#attempt(call, isWhole);
      } catch (error) {
        if (attempt >= retries || !mayRepeat(call.operation, error)) throw error;
        await sleep(waitMs(attempt, error), call.options.signal);
      }
    }
  }

  async #attempt({ url, init, options }: Call, isWhole: boolean): Promise<Response> {
    const {
      timeoutMs = timeoutMsDefault,
      answerMaxBytes = answerMaxBytesDefault,
      fetch: send = fetch,
    } = this.#options;
    const own = new AbortController();
    const timer = setTimeout(
      () => own.abort(),
      Math.min(options.timeoutMs ?? timeoutMs, timerMsMax),
    );
    const signal = options.signal ? AbortSignal.any([own.signal, options.signal]) : own.signal;
    const where = `${init.method} ${url.pathname}`;
    try {
      const answer = await send(url, { ...init, signal });
      if (isRedirect(answer)) {
        await answer.body?.cancel();
        throw new PostriderError(`${where} was redirected: is baseUrl the gateway's own address?`);
      }
      if (!answer.ok) throw await errorOf(answer);
      if (!isWhole) return answer;
      const bytes = await bytesOf(answer, answerMaxBytes);
      if (bytes) return new Response(bytes, { headers: answer.headers });
      throw new PostriderError(`${where} answered more than ${answerMaxBytes} bytes`);
    } catch (error) {
      if (error instanceof PostriderError) throw error;
      options.signal?.throwIfAborted();
      if (own.signal.aborted) throw new TimeoutError(`${where} took too long`, { cause: error });
      throw new ConnectionError(`${where} got no answer`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Whether a repeat can do no harm and may succeed. */
function mayRepeat({ verb, keyed }: Operation, error: unknown): boolean {
  const isSafe = verb === 'GET' || keyed === true;
  if (error instanceof ConnectionError) return isSafe;
  if (!(error instanceof ApiError)) return false;
  if ((error.retryAfterSeconds ?? 0) * 1_000 > waitMsMax) return false;
  // The first attempt still runs: its answer comes under the same key.
  if (keyed && error.reason === 'IDEMPOTENCY_KEY_IN_USE') return true;
  // A call is refused before anything is done.
  return error.status === 429 || (isSafe && [502, 503, 504].includes(error.status));
}

function waitMs(attempt: number, error: unknown): number {
  const asked = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
  // Spread, so that clients that failed together do not return together.
  return asked + firstWaitMs * 2 ** attempt * (0.5 + Math.random());
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** Browsers iterate streams by their reader only. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => {
        throw new ConnectionError('the answer was cut', { cause });
      });
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function itemOf<Item>(line: string): Item {
  return JSON.parse(line) as Item;
}

/** A stream that ends in the middle of a line was cut. */
function lastOf<Item>(line: string): Item {
  try {
    return itemOf<Item>(line);
  } catch (cause) {
    throw new ConnectionError('the answer was cut', { cause });
  }
}

/** Browsers hide the status of a redirect. */
const isRedirect = ({ status, type }: Response) =>
  type === 'opaqueredirect' || (status >= 300 && status < 400);

/** JSON has no NaN and no invalid date: it would say null, which clears a field. */
function jsonOf(request: object): string {
  return JSON.stringify(request, function refuse(this: Record<string, unknown>, name, value) {
    const given = this[name];
    const isLost =
      typeof given === 'bigint' ||
      (typeof given === 'number' && !Number.isFinite(given)) ||
      (given instanceof Date && Number.isNaN(given.getTime()));
    if (isLost) throw new PostriderError(`${name} is ${String(given)}, which JSON cannot say`);
    return value;
  });
}
