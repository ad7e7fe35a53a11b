import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { endingStatements } from '#lib/postgres/call-connections.ts';
import { operationOf } from './access.ts';

/** Longer than any call of ours takes; long work is a workflow's. */
export const deadlineDefaultMs = 30_000;

/** Ends a call whose caller named no deadline, so that none waits for ever. */
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
 * Ends the statements of a call that nobody waits for. Calls between services go on: mail that was sent must be
 * recorded whatever became of the caller.
 */
export const statementsEndWithCall: Interceptor = (next) => (request) =>
  request.stream || operationOf(request.method)?.access?.rule.case === 'service'
    ? next(request)
    : endingStatements(request.signal, () => next(request));
