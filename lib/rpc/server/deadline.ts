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
 * Calls between services continue: sent mail must be recorded whatever happens to the caller. Heavy reads of services are done
 * for a tenant, and are treated as the tenant's own.
 */
export const statementsEndWithCall: Interceptor = (next) => (request) => {
  const options = operationOf(request.method);
  if (request.stream || !options) return next(request);
  const { user, workspaceId } = limitedBy(request.contextValues);
  const isHeavy = options.heavy;
  if (options.access?.rule.case === 'service' && !isHeavy) return next(request);
  const isOfTenant = workspaceId !== '' && (user !== undefined || isHeavy);
  const passenger = isOfTenant ? { workspaceId, isHeavy } : undefined;
  return endingStatements({ signal: request.signal, passenger }, () => next(request));
};
