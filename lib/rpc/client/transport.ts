import type { OutgoingHttpHeaders } from 'node:http2';
import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type DescService,
  isMessage,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import { Code, ConnectError, type Transport, type UnaryResponse } from '@connectrpc/connect';
import { errorFromJsonBytes } from '@connectrpc/connect/protocol-connect';
import { retryLater } from '#lib/errors/errors.ts';
import { callMade } from '#lib/telemetry/calls.ts';
import { currentTraceparent, inSpan } from '#lib/telemetry/tracing.ts';
import { fromBinaryInTurns, toBinaryInTurns } from '../in-turns.ts';
import { metadataOf } from '../received-headers.ts';
import { currentRequestId, requestIdHeader } from '../request-id.ts';
import { type CallAnswer, exchange, NoAnswer } from './call.ts';
import type { Connection } from './connection.ts';

const defaultTimeoutMs = 10_000;
const retryMs = 1_000;

/** Makes the value of a client's Authorization header. */
export type Authorization = () => Promise<string>;

/**
 * Unary calls in the Connect protocol over HTTP/2, with as little as they need. Without a valid
 * answer of the service the error is Unavailable: it could not be reached, disconnected during the
 * call, or its answer cannot be read.
 */
export function leanTransport(connection: Connection, authorization?: Authorization): Transport {
  const unary: Transport['unary'] = async (
    method,
    signal,
    timeoutMs = defaultTimeoutMs,
    given,
    input,
  ) => {
    const headers = requestHeaders(method, given);
    headers['connect-timeout-ms'] = String(Math.ceil(timeoutMs));
    if (authorization) headers.authorization = await authorization();
    const body = await toBinaryInTurns(method.input, messageOf(method.input, input));
    const startedAtMs = performance.now();
    try {
      const answer = await exchange(connection, { headers, body, signal, timeoutMs });
      const response = await responseOf(method, answer);
      callMade(method, startedAtMs, undefined);
      return response;
    } catch (reason) {
      const error = reason instanceof NoAnswer ? unavailable(method) : reason;
      callMade(method, startedAtMs, error instanceof ConnectError ? error.code : Code.Unknown);
      throw error;
    }
  };
  return {
    unary(method, ...call) {
      return inSpan(`${method.parent.typeName}/${method.name}`, clientSpan, () =>
        unary(method, ...call),
      );
    },
    stream(method) {
      const text = `${method.name} is a stream, which no service of ours has`;
      return Promise.reject(new ConnectError(text, Code.Unimplemented));
    },
  };
}

function unavailable({ parent }: DescMethodUnary): ConnectError {
  return retryLater(`${parent.typeName} is not available`, Code.Unavailable, retryMs);
}

function messageOf<Desc extends DescMessage>(
  schema: Desc,
  input: MessageInitShape<Desc>,
): MessageShape<Desc> {
  return isMessage(input, schema) ? input : create(schema, input);
}

const clientSpan = {
  kind: 'client',
  attributes: { 'rpc.system': 'grpc' },
  onlyInTrace: true,
} as const;

type CallHeaders = Parameters<Transport['unary']>[3];

function requestHeaders(
  { parent, name }: DescMethodUnary,
  given: CallHeaders,
): OutgoingHttpHeaders {
  const requestId = currentRequestId();
  const traceparent = currentTraceparent();
  return {
    ...(requestId && { [requestIdHeader]: requestId }),
    ...(traceparent && { traceparent }),
    ...(given && Symbol.iterator in given ? Object.fromEntries(given) : given),
    ':method': 'POST',
    ':path': `/${parent.typeName}/${name}`,
    'content-type': 'application/proto',
    'connect-protocol-version': '1',
  };
}

async function responseOf<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  answer: CallAnswer,
): Promise<UnaryResponse<I, O>> {
  const { ':status': status, 'content-type': type } = answer.headers;
  if (status !== 200 || type !== 'application/proto') throw failureIn(method, answer);
  return new Response(method, answer, await parse(method, answer.body));
}

/**
 * A class, since V8 puts the getters of an object literal into the old generation, where they keep
 * the whole answer.
 */
class Response<I extends DescMessage, O extends DescMessage> implements UnaryResponse<I, O> {
  readonly stream = false;
  readonly service: DescService;
  readonly method: DescMethodUnary<I, O>;
  readonly message: MessageShape<O>;
  readonly #headers: CallAnswer['headers'];
  // Created on first use: few callers read metadata, and it costs more than the rest of a response.
  #metadata: [Headers, Headers] | undefined;

  constructor(method: DescMethodUnary<I, O>, answer: CallAnswer, message: MessageShape<O>) {
    this.service = method.parent;
    this.method = method;
    this.message = message;
    this.#headers = answer.headers;
  }

  get header(): Headers {
    return this.#both()[0];
  }

  get trailer(): Headers {
    return this.#both()[1];
  }

  #both(): [Headers, Headers] {
    this.#metadata ??= metadataOf(this.#headers);
    return this.#metadata;
  }
}

async function parse<O extends DescMessage>(
  { output, parent }: DescMethodUnary<DescMessage, O>,
  body: Uint8Array,
): Promise<MessageShape<O>> {
  try {
    return await fromBinaryInTurns(output, body);
  } catch {
    throw new NoAnswer(`${parent.typeName} answered what can't be read`);
  }
}

function failureIn(method: DescMethodUnary, answer: CallAnswer): Error {
  const { ':status': status, 'content-type': type } = answer.headers;
  if (status === 404 && type !== 'application/json') {
    return new ConnectError(`${method.name} is not known there`, Code.Unimplemented);
  }
  const [header, trailer] = metadataOf(answer.headers);
  for (const [name, value] of trailer) header.append(name, value);
  const error = errorFromJsonBytes(answer.body, header, unavailable(method));
  // Our caller did not cancel, so the service is shutting down.
  return error.code === Code.Canceled ? unavailable(method) : error;
}
