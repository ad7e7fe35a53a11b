import { isNativeError } from 'node:util/types';
import type { DescMessage, MessageInitShape } from '@bufbuild/protobuf';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { RequestInfoSchema, RetryInfoSchema } from '#gen/google/rpc/error_details_pb.ts';
import { retryDefaultMs, retryLater } from '#lib/errors/errors.ts';
import { reasonFor, withReason } from '#lib/errors/reasons.ts';
import { atMostEvery } from '#lib/limits/at-most-every.ts';
import type { Log } from '#lib/log.ts';
import { requestIdHeader } from '../request-id.ts';

/** PostgreSQL's codes that a caller can act on. Any other is an internal error. */
const databaseCodes = new Map<string, Code>([
  ['23505', Code.AlreadyExists],
  ['40001', Code.Aborted],
  ['40P01', Code.Aborted],
  ['57014', Code.DeadlineExceeded],
  ['22021', Code.InvalidArgument],
  ['22P05', Code.InvalidArgument],
]);

/**
 * Classes of codes for an unavailable database: connections, resources, shutdown, the system, a
 * standby, transactions that took too long.
 */
const outageCode =
  /^(?:08|53|57P|58|25006|25P03|25P04|ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EAI_|EHOST|ENET)/;
const outageText =
  /Connection terminated|timeout exceeded when trying to connect|Client (?:has encountered|was closed)/;

const outageWarningEveryMs = 10_000;

const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : '';

const isOutage = (error: Error): boolean =>
  outageCode.test(codeOf(error)) || outageText.test(error.message);

function databaseError(error: unknown): ConnectError | undefined {
  if (!isNativeError(error)) return undefined;
  const code = codeOf(error);
  // A NUL in a value that MikroORM writes into the statement ends the statement there.
  if (code === '08P01' && error.message.includes('invalid message format')) {
    return new ConnectError(textOf(Code.InvalidArgument), Code.InvalidArgument);
  }
  if (isOutage(error)) {
    return retryLater('the database is not available', Code.Unavailable, retryDefaultMs);
  }
  const known = databaseCodes.get(code);
  if (known !== undefined)
    return new ConnectError(textOf(known), known, undefined, undefined, error);
  return undefined;
}

function textOf(code: Code): string {
  switch (code) {
    case Code.AlreadyExists:
      return 'already exists';
    case Code.Aborted:
      return 'changed by another request at the same time; try again';
    case Code.DeadlineExceeded:
      return 'took too long';
    default:
      return 'holds text that can not be stored';
  }
}

/**
 * Turns any error of an operation into a ConnectError. Unexpected errors are logged here and
 * answered without their text, which may hold personal data. Why the database is not available is
 * logged every ten seconds.
 */
export function errorInterceptor(log: Log): Interceptor {
  const sayOutage = atMostEvery(outageWarningEveryMs, (err: unknown) =>
    log.warn({ err }, 'calls fail since the database is not available'),
  );
  return (next) => async (request) => {
    const requestId = request.header.get(requestIdHeader) ?? '';
    try {
      return await next(request);
    } catch (reason) {
      const known = knownError(reason, request.signal);
      const err = reason instanceof ConnectError ? reason.cause : reason;
      if (known?.code === Code.Unavailable && isNativeError(err) && isOutage(err)) sayOutage(err);
      if (known) throw explained(known, requestId);
      log.error({ err, rpc: request.method.name, requestId }, 'operation failed');
      throw explained(new ConnectError('internal error', Code.Internal), requestId);
    }
  };
}

function knownError(reason: unknown, signal: AbortSignal): ConnectError | undefined {
  if (reason instanceof ConnectError && reason.code !== Code.Internal) return reason;
  if (signal.aborted) return aborted(signal);
  return databaseError(reason instanceof ConnectError ? reason.cause : reason);
}

const passing = new Set<Code>([Code.ResourceExhausted, Code.Unavailable]);

/** Adds missing details that clients of gRPC expect: reason, request, and retry delay. */
export function explained(error: ConnectError, requestId: string): ConnectError {
  const { details, code } = error;
  const add = <Desc extends DescMessage>(desc: Desc, value: MessageInitShape<Desc>) => {
    const has = error.findDetails(desc).length > 0;
    if (!has) details.push({ desc, value });
  };
  withReason(error, reasonFor(code));
  add(RequestInfoSchema, { requestId });
  if (passing.has(code)) add(RetryInfoSchema, { retryDelay: durationFromMs(retryDefaultMs) });
  return error;
}

function aborted(signal: AbortSignal): ConnectError {
  // A new error, since calls that share the signal share its reason, and details are added for each
  // call.
  const { rawMessage, code } = ConnectError.from(signal.reason, Code.Canceled);
  return new ConnectError(rawMessage, code);
}
