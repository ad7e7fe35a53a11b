import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createServiceImplSpec,
  type HandlerContext,
  type Interceptor,
  type MethodImplSpec,
} from '@connectrpc/connect';
import { invokeUnaryImplementation, mergeNonProtocolHeaders } from '@connectrpc/connect/protocol';
import {
  codeToHttpStatus,
  errorToJsonBytes,
  parseTimeout,
} from '@connectrpc/connect/protocol-connect';
import { fromBinaryInTurns, toBinaryInTurns } from '../in-turns.ts';
import { ReceivedHeaders } from '../received-headers.ts';
import { messageMaxBytes, publicMessageMaxBytes } from '../wire.ts';
import { isPublic } from './access.ts';
import { type Arrival, arrivalKey } from './arrivals.ts';
import { deadlineDefaultMs, deadlineMaxMs } from './deadline.ts';
import { discardRest } from './http2.ts';
import { openCalls } from './open-calls.ts';

type UnarySpec = Extract<MethodImplSpec, { kind: 'unary' }> & { messageMax: number };

type Options = {
  interceptors: Interceptor[];
  shutdownSignal: AbortSignal;
  routes: (router: ConnectRouter) => void;
  requestGate: (context: HandlerContext) => Promise<void>;
  arrive: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => Arrival;
  /** How long a message may take to arrive. */
  arrivalMaxMs: number;
};

/** Answers a request and returns true, or returns false and leaves it to the library. */
export type StreamHandler = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean;

/**
 * Answers calls between services: unary calls in the Connect protocol with binary messages. It
 * behaves like the library, without its objects and iterators, which cost more than a small
 * operation.
 */
export function unaryServer(options: Options): StreamHandler {
  const specs = unarySpecs(options.routes);
  const shared = { ...options, open: openCalls(options.shutdownSignal) };
  return (stream, headers) => {
    const isOurs =
      headers[':method'] === 'POST' &&
      headers['content-type'] === 'application/proto' &&
      headers['content-encoding'] === undefined;
    const spec = isOurs && specs.get(headers[':path'] ?? '');
    if (!spec) return false;
    void answer(shared, spec, { stream, headers });
    return true;
  };
}

/** Collects the methods that the routes register. */
function unarySpecs(routes: Options['routes']): Map<string, UnarySpec> {
  const specs = new Map<string, UnarySpec>();
  const recorder: ConnectRouter = {
    handlers: [],
    service(service, implementation) {
      for (const spec of Object.values(createServiceImplSpec(service, implementation).methods)) {
        if (spec.kind !== 'unary') continue;
        const messageMax = isPublic(spec.method) ? publicMessageMaxBytes : messageMaxBytes;
        specs.set(`/${service.typeName}/${spec.method.name}`, { ...spec, messageMax });
      }
      return recorder;
    },
    rpc: () => recorder,
  };
  routes(recorder);
  return specs;
}

// Created once: aborting without a reason, or with a new one for each call, costs more than
// answering.
const left = new ConnectError('the caller left', Code.Canceled);
const over = new ConnectError('the call is over', Code.Canceled);

type Request = { stream: ServerHttp2Stream; headers: IncomingHttpHeaders };
type Shared = Options & { open: ReturnType<typeof openCalls> };

async function answer(options: Shared, spec: UnarySpec, request: Request): Promise<void> {
  const { stream } = request;
  const { call, badTimeout } = begin(options, spec, request);
  const arrival = options.arrive(stream, request.headers);
  call.values.set(arrivalKey, arrival);
  stream.once('close', () => call.end(left));
  try {
    if (badTimeout) throw badTimeout;
    await options.requestGate(call);
    const limits = { maxBytes: spec.messageMax, withinMs: options.arrivalMaxMs };
    const message = await readBody(stream, arrival, call, limits);
    const input = await parse(spec.method.input, message);
    const output = await invokeUnaryImplementation(spec, call, input, options.interceptors);
    const body = await toBinaryInTurns(spec.method.output, output);
    if (body.length > messageMaxBytes) throw tooLarge('answer', messageMaxBytes);
    respond(stream, { status: 200, type: 'application/proto', body }, call);
  } catch (reason) {
    const error = ConnectError.from(reason, Code.Internal);
    if (!error.isWireError) mergeNonProtocolHeaders(call.responseHeader, error.metadata);
    const status = codeToHttpStatus(error.code);
    const body = errorToJsonBytes(error, undefined);
    respond(stream, { status, type: 'application/json', body }, call);
  } finally {
    call.end(over);
  }
}

function begin({ open }: Shared, { method }: UnarySpec, { headers }: Request) {
  const requestHeader = new ReceivedHeaders(headers);
  const timeout = parseTimeout(requestHeader.get('connect-timeout-ms'), deadlineMaxMs);
  // The deadline also ends a message that does not arrive, so callers without a token may not set a
  // long one.
  const maxMs = isPublic(method) ? deadlineDefaultMs : deadlineMaxMs;
  const timeoutMs = Math.min(timeout.timeoutMs ?? deadlineDefaultMs, maxMs);
  return { call: open(method, { headers, requestHeader, timeoutMs }), badTimeout: timeout.error };
}

function tooLarge(what: string, maxBytes: number): ConnectError {
  const text = `the ${what} is larger than ${maxBytes} bytes`;
  return new ConnectError(text, Code.ResourceExhausted);
}

async function parse<Desc extends DescMessage>(
  schema: Desc,
  body: Uint8Array,
): Promise<MessageShape<Desc>> {
  try {
    return await fromBinaryInTurns(schema, body);
  } catch {
    throw new ConnectError("the message can't be read", Code.InvalidArgument);
  }
}

type BodyLimits = { maxBytes: number; withinMs: number };

function readBody(
  stream: ServerHttp2Stream,
  arrival: Arrival,
  { signal, timeoutMs }: HandlerContext,
  { maxBytes, withinMs }: BodyLimits,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    const gone = () => reject(left);
    if (stream.destroyed) return gone();
    // An empty message may have ended while the token was verified.
    if (stream.readableEnded) return resolve(new Uint8Array());
    // A deadline that is shorter ends the call itself.
    if ((timeoutMs() ?? 0) > withinMs) endUnlessRead(stream, withinMs, reject);
    const stop = (error: unknown) => {
      stream.off('data', read);
      chunks.length = 0;
      reject(error);
    };
    const take = (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes) throw tooLarge('message', maxBytes);
      chunks.push(chunk);
      const checked = arrival.take(chunk);
      if (!checked) return;
      stream.pause();
      checked.catch(stop).finally(() => stream.resume());
    };
    const read = (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        stop(error);
      }
    };
    stream.on('data', read);
    stream.once('end', () => {
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) return gone();
      const [first] = chunks;
      resolve(first && chunks.length === 1 ? first : Buffer.concat(chunks));
    });
    stream.once('close', gone);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

function endUnlessRead(
  stream: ServerHttp2Stream,
  withinMs: number,
  end: (error: ConnectError) => void,
): void {
  const late = () =>
    end(new ConnectError('the message took too long to arrive', Code.DeadlineExceeded));
  const timer = setTimeout(late, withinMs);
  const stop = () => clearTimeout(timer);
  stream.once('end', stop).once('close', stop);
}

type UnaryAnswer = { status: number; type: string; body: Uint8Array };

function respond(
  stream: ServerHttp2Stream,
  { status, type, body }: UnaryAnswer,
  { responseHeader, responseTrailer }: HandlerContext,
): void {
  if (stream.destroyed) return;
  const headers: OutgoingHttpHeaders = {};
  for (const [name, value] of responseHeader) headers[name] = value;
  for (const [name, value] of responseTrailer) headers[`trailer-${name}`] = value;
  headers[':status'] = status;
  headers['content-type'] = type;
  headers['content-length'] = body.length;
  stream.respond(headers);
  stream.end(body);
  discardRest(stream);
}
