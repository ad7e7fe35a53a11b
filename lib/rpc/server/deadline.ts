import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { endingStatements } from '#lib/postgres/call-connections.ts';
import { limitedBy, operationOf } from './access.ts';

/** Longer than any of our calls takes; long work is done by workflows. */
export const deadlineDefaultMs = 30_000;

/** Ends a call without a deadline of its own, so that none waits for ever. */
export function defaultDeadline(deadlineMs: number): Interceptor {
  return (next) => async (request) => {
    const { header, stream } = request;
    const isNamed = header.has('grpc-timeout') || header.has('connect-timeout-ms');
    if (stream || isNamed) return next(request);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const end = new AbortController();
    const timer = setTimeout(() => {
      end.abort(new ConnectError('the call took too long', Code.DeadlineExceeded));
      reject(end.signal.reason);
    }, deadlineMs);
    const signal = AbortSignal.any([request.signal, end.signal]);
    try {
      return await Promise.race([next({ ...request, signal }), late]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/**
 * Ends the statements of a call that was cancelled or is late, and has tenants take turns with the connections of a pool.
 * Calls between services continue: sent mail must be recorded whatever happens to the caller.
 */
export const statementsEndWithCall: Interceptor = (next) => (request) => {
  const rule = operationOf(request.method)?.access?.rule.case;
  if (request.stream || rule === 'service') return next(request);
  const { user, workspaceId } = limitedBy(request.contextValues);
  const tenant = user !== undefined && workspaceId !== '' ? workspaceId : undefined;
  return endingStatements({ signal: request.signal, tenant }, () => next(request));
};
