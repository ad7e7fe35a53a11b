import { bytesOf, chunksOf } from './body.ts';
import { type Content, contentOf, type SentContent } from './content.ts';
import { ApiError, ConnectionError, errorOf, PostriderError, TimeoutError } from './errors.ts';

export type ClientOptions = {
  /** The address of the gateway, such as `https://mail.example.com`, without a password. */
  baseUrl: string;
  /** An API key, or the token of a session. */
  token?: string | undefined;
  /** The workspace of requests that name none. */
  workspaceId?: string | undefined;
  /** For one attempt, until its answer is read. 30,000 if absent. */
  timeoutMs?: number | undefined;
  /** Attempts after the first one, 0 to 100. 2 if absent. */
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

export type Body = { content: Content; type: string };

type SentBody = { content: SentContent; type: string };

/** A request whose workspace may be that of the client. */
export type InWorkspace<Request> = Request extends { workspace_id: string }
  ? Omit<Request, 'workspace_id'> & { workspace_id?: string }
  : Request;

type Call = { url: URL; operation: Operation; init: RequestInit; options: RequestOptions };

export const workspaceField = 'workspace_id';

const timeoutMsDefault = 30_000;
const retriesDefault = 2;
const retriesMax = 100;
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
  readonly #base: URL;

  /** Throws a `PostriderError` for an option that cannot work. */
  constructor(options: ClientOptions) {
    this.#options = options;
    this.#base = baseOf(options.baseUrl);
    if (options.token !== undefined) headerOf('token', options.token);
    timeoutMsOf(options, {});
    retriesOf(options, {});
    answerMaxBytesOf(options);
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
    body?: SentBody,
  ): Promise<ReadableStream<Uint8Array>> {
    const answer = await this.#answer(operation, this.#inWorkspace(query), body, {
      options,
      isWhole: false,
    });
    if (!answer.body) throw new ConnectionError('the answer has no body');
    return answer.body;
  }

  /**
   * Each line of an answer in JSON lines. Throws if the answer is cut. A stream that is sent is
   * closed with it.
   */
  async *lines<Item>(
    operation: Operation,
    query: object,
    options?: RequestOptions,
    body?: Body,
  ): AsyncGenerator<Item, void, undefined> {
    const answerMaxBytes = answerMaxBytesOf(this.#options);
    const decoder = new TextDecoder();
    const end = new AbortController();
    const sent = body && { ...body, content: contentOf(body.content, end.signal) };
    let rest = '';
    try {
      const stream = await this.stream(operation, query, options, sent);
      for await (const bytes of chunksOf(stream)) {
        const [head = '', ...lines] = decoder.decode(bytes, { stream: true }).split('\n');
        rest += head;
        for (const next of lines) {
          if (rest !== '') yield itemOf<Item>(rest);
          rest = next;
        }
        if (rest.length > answerMaxBytes) {
          throw new PostriderError(`a line of the answer is longer than ${answerMaxBytes} bytes`);
        }
      }
      rest += decoder.decode();
      if (rest !== '') yield itemOf<Item>(rest);
    } catch (error) {
      if (error instanceof PostriderError) throw error;
      options?.signal?.throwIfAborted();
      throw new ConnectionError('the answer was cut', { cause: error });
    } finally {
      end.abort();
    }
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
    body: SentBody | undefined,
    { options, isWhole }: { options: RequestOptions; isWhole: boolean },
  ): Promise<Response> {
    const { token } = this.#options;
    const url = new URL(this.#base);
    // A gateway may be below a path of its host.
    url.pathname = `${url.pathname.replace(/\/+$/, '')}${operation.path}`;
    for (const [name, value] of Object.entries(query)) {
      for (const each of [value].flat()) {
        if (each !== undefined && each !== null) url.searchParams.append(name, textOf(name, each));
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
        ...(key === undefined ? {} : { 'idempotency-key': headerOf('idempotencyKey', key) }),
      },
      ...(body ? { body: body.content } : {}),
      ...(body?.content instanceof ReadableStream ? streamInit : {}),
    };
    const retries = retriesOf(this.#options, options);
    // A file is sent once: its stream is used up.
    const left = body && !isWhole ? 0 : retries;
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
    const { fetch: send = fetch } = this.#options;
    const answerMaxBytes = answerMaxBytesOf(this.#options);
    const timeoutMs = timeoutMsOf(this.#options, options);
    const own = new AbortController();
    const timer = setTimeout(() => own.abort(), Math.min(timeoutMs, timerMsMax));
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
      // The content of the call could not be read.
      if (error instanceof Error && error.cause instanceof PostriderError) throw error.cause;
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

/** Before the next attempt: what the server asks for, and a time that doubles up to a minute. */
export function waitMs(attempt: number, error: unknown): number {
  const asked = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
  // Spread, so that clients that failed together do not return together.
  return asked + Math.min(firstWaitMs * 2 ** attempt, waitMsMax) * (0.5 + Math.random());
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

/** A stream that ends in the middle of a line was cut. The error leaves out what the line says. */
function itemOf<Item>(line: string): Item {
  try {
    return JSON.parse(line) as Item;
  } catch {
    throw new ConnectionError('the answer was cut: a line of it is not JSON');
  }
}

/** Browsers hide the status of a redirect. */
const isRedirect = ({ status, type }: Response) =>
  type === 'opaqueredirect' || (status >= 300 && status < 400);

/** JSON has no NaN and no invalid date: it would say null, which clears a field. */
function jsonOf(request: object): string {
  return JSON.stringify(request, function refuse(this: Record<string, unknown>, name, value) {
    const given = this[name];
    if (typeof given === 'bigint' || isLost(given)) {
      throw new PostriderError(`${name} is ${String(given)}, which JSON cannot say`);
    }
    return value;
  });
}

/** A value in a query. */
function textOf(name: string, value: unknown): string {
  if (isLost(value)) throw new PostriderError(`${name} is ${String(value)}, which is no value`);
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'object') throw new PostriderError(`${name} is an object in a query`);
  return String(value);
}

const isLost = (value: unknown) =>
  (typeof value === 'number' && !Number.isFinite(value)) ||
  (value instanceof Date && Number.isNaN(value.getTime()));

/** `fetch` shows a wrong address with its password, and a wrong header with its value. */
function baseOf(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username + url.password === '') return url;
  throw new PostriderError('baseUrl has to be like https://mail.example.com, without a user');
}

function headerOf(option: string, value: string): string {
  if (/^[\x20-\x7e]*$/.test(value.trim())) return value;
  throw new PostriderError(`${option} has a line break or a letter that a header cannot have`);
}

const retriesOf = (own: ClientOptions, call: RequestOptions) =>
  within('retries', call.retries ?? own.retries ?? retriesDefault, 0, retriesMax);

const timeoutMsOf = (own: ClientOptions, call: RequestOptions) =>
  within('timeoutMs', call.timeoutMs ?? own.timeoutMs ?? timeoutMsDefault, 1, Infinity);

const answerMaxBytesOf = ({ answerMaxBytes = answerMaxBytesDefault }: ClientOptions) =>
  within('answerMaxBytes', answerMaxBytes, 1, Infinity);

/** NaN is in no range. */
function within(option: string, value: number, from: number, to: number): number {
  if (value >= from && value <= to) return value;
  throw new PostriderError(`${option} is ${value}: it has to be a number from ${from} to ${to}`);
}
