import type { DescMethod } from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext, type Interceptor } from '@connectrpc/connect';
import { codeToString } from '@connectrpc/connect/protocol-connect';
import type { Log } from '#lib/log.ts';
import { callServed } from '#lib/telemetry/calls.ts';
import { inSpan, type SpanOptions, traceparentIn } from '#lib/telemetry/tracing.ts';
import { inRequest, requestIdFrom, requestIdHeader } from '../request-id.ts';
import { namesOf } from './access.ts';
import { explained } from './errors.ts';

/**
 * Gives every call an id, the caller's own if it is valid, and returns it; logs each call in one
 * line: its RPC, its code, its duration, who called and in which workspace.
 */
export function requestLog(log: Log): Interceptor {
  return (next) => async (request) => {
    const names = request.stream ? {} : namesOf(request);
    const call = beginCall(log, request.method, request.header, names);
    return inSpan(call.rpc, spanOf(request), async () => {
      try {
        const answer = await inRequest(call.requestId, () => next(request));
        answer.header.set(requestIdHeader, call.requestId);
        call.end();
        return answer;
      } catch (reason) {
        throw call.fail(ConnectError.from(reason, Code.Internal));
      }
    });
  };
}

function spanOf({ header, method }: { header: Headers; method: DescMethod }): SpanOptions {
  return {
    kind: 'server',
    attributes: {
      'rpc.system': 'grpc',
      'rpc.service': method.parent.typeName,
      'rpc.method': method.name,
    },
    parent: traceparentIn(header.get('traceparent')),
  };
}

type Gate = (context: HandlerContext) => Promise<void>;

/**
 * Rejected calls never reach the interceptors, so they are logged here, and their errors completed.
 */
export function loggedGate(log: Log, gate: Gate): Gate {
  return async (context) => {
    const call = beginCall(log, context.method, context.requestHeader);
    try {
      await gate(context);
    } catch (reason) {
      const error = ConnectError.from(reason, Code.Internal);
      throw call.fail(explained(error, call.requestId));
    }
  };
}

function beginCall(log: Log, method: DescMethod, header: Headers, names: object = {}) {
  const given = header.get(requestIdHeader);
  const requestId = requestIdFrom(given);
  // A change copies all headers.
  if (requestId !== given) header.set(requestIdHeader, requestId);
  const startedAtMs = performance.now();
  const rpc = `${method.parent.typeName}/${method.name}`;
  const end = (code?: Code) => {
    callServed(method, startedAtMs, code);
    const durationMs = Math.round(performance.now() - startedAtMs);
    const word = code === undefined ? 'ok' : codeToString(code);
    log.info({ rpc, code: word, durationMs, requestId, ...names }, 'call');
  };
  const fail = (error: ConnectError) => {
    error.metadata.set(requestIdHeader, requestId);
    end(error.code);
    return error;
  };
  return { rpc, requestId, end, fail };
}
