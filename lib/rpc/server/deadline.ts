import type { IncomingHttpHeaders } from 'node:http2';
import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { parseTimeout as connectTimeout } from '@connectrpc/connect/protocol-connect';
import { parseTimeout as grpcTimeout } from '@connectrpc/connect/protocol-grpc';
import { endingStatements } from '#lib/postgres/call-connections.ts';
import { limitedBy, operationOf } from './access.ts';

/** Longer than any of our calls takes; long work is done by workflows. */
export const deadlineDefaultMs = 30_000;

/** Longer than any of our streams needs. */
export const deadlineMaxMs = 10 * 60_000;

/**
 * Cuts a deadline to ten minutes. A caller may pass on the deadline of its own work, such as an
 * hour of an activity, and the libraries refuse what is longer than a server takes.
 */
export function cutDeadline(headers: IncomingHttpHeaders): void {
  const { 'grpc-timeout': grpc, 'connect-timeout-ms': connect } = headers;
  if (isLonger(grpcTimeout, grpc)) headers['grpc-timeout'] = `${deadlineMaxMs / 1_000}S`;
  if (isLonger(connectTimeout, connect)) headers['connect-timeout-ms'] = String(deadlineMaxMs);
}

function isLonger(parse: typeof grpcTimeout, given: string | string[] | undefined): boolean {
  if (typeof given !== 'string') return false;
  // A malformed timeout is refused where the call is read.
  return (parse(given, deadlineMaxMs).timeoutMs ?? 0) > deadlineMaxMs;
}

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
 * Ends the statements of a call that was cancelled or is late, and has tenants take turns with the
 * connections of a pool. Calls between services continue: sent mail must be recorded whatever
 * happens to the caller.
 */
export const statementsEndWithCall: Interceptor = (next) => (request) => {
  const rule = operationOf(request.method)?.access?.rule.case;
  if (request.stream || rule === 'service') return next(request);
  const { user, workspaceId } = limitedBy(request.contextValues);
  const tenant = user !== undefined && workspaceId !== '' ? workspaceId : undefined;
  return endingStatements({ signal: request.signal, tenant }, () => next(request));
};
