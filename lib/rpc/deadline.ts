import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';

/** Longer than any call of ours takes; long work is a workflow's. */
export const deadlineDefaultMs = 30_000;

/** Ends a call whose caller named no deadline, so that none waits for ever. */
export function defaultDeadline(deadlineMs: number): Interceptor {
  return (next) => async (request) => {
    const { header, stream } = request;
    const isNamed = header.has('grpc-timeout') || header.has('connect-timeout-ms');
    if (stream || isNamed) return next(request);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new ConnectError('the call took too long', Code.DeadlineExceeded));
    }, deadlineMs);
    try {
      return await Promise.race([next(request), late]);
    } finally {
      clearTimeout(timer);
    }
  };
}
