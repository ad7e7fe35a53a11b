import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { DescMethod } from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext, type Interceptor } from '@connectrpc/connect';
import { codeToString } from '@connectrpc/connect/protocol-connect';
import type { Log } from '#lib/log.ts';
import { explained } from '../errors.ts';

export const requestIdHeader = 'x-request-id';
const saneId = /^[\x21-\x7e]{1,128}$/;
const requestIds = new AsyncLocalStorage<string>();

/** The id of the call that is worked on: what it asks of other services is part of the same request. */
export function currentRequestId(): string | undefined {
  return requestIds.getStore();
}

/**
 * Gives every call an id, the caller's own where it is sane, which is answered and logged; and logs each
 * call in a line: what was asked, how it ended, how long it took.
 */
export function requestLog(log: Log): Interceptor {
  return (next) => async (request) => {
    const call = beginCall(log, request.method, request.header);
    try {
      const answer = await requestIds.run(call.requestId, () => next(request));
      answer.header.set(requestIdHeader, call.requestId);
      call.end('ok');
      return answer;
    } catch (reason) {
      throw call.fail(ConnectError.from(reason, Code.Internal));
    }
  };
}

type Gate = (context: HandlerContext) => Promise<void>;

/** What a gate refuses never comes to the interceptors: it is told and logged here as they would. */
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

function beginCall(log: Log, method: DescMethod, header: Headers) {
  const given = header.get(requestIdHeader) ?? '';
  const requestId = saneId.test(given) ? given : randomUUID();
  header.set(requestIdHeader, requestId);
  const startedAtMs = performance.now();
  const rpc = `${method.parent.typeName}/${method.name}`;
  const end = (code: string) => {
    const durationMs = Math.round(performance.now() - startedAtMs);
    log.info({ rpc, code, durationMs, requestId }, 'call');
  };
  const fail = (error: ConnectError) => {
    error.metadata.set(requestIdHeader, requestId);
    end(codeToString(error.code));
    return error;
  };
  return { requestId, end, fail };
}
