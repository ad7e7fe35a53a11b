import { Code, ConnectError } from '@connectrpc/connect';
import { BadRequestSchema } from '#gen/google/rpc/error_details_pb.ts';
import { retryDelayMs } from '#lib/errors/errors.ts';
import { reasonOf } from '#lib/errors/reasons.ts';
import { passedOn, retryAfter } from '../http/limit-headers.ts';
import { type Failure, Refusal } from '../http/refusal.ts';
import { FieldError } from '../json/field-error.ts';

/** The HTTP status of each code. Any other code is an internal error: 500. */
const statuses = new Map<Code, readonly [status: number, code: string]>([
  [Code.InvalidArgument, [400, 'invalid_argument']],
  [Code.FailedPrecondition, [400, 'failed_precondition']],
  [Code.Unauthenticated, [401, 'unauthenticated']],
  [Code.PermissionDenied, [403, 'permission_denied']],
  [Code.NotFound, [404, 'not_found']],
  [Code.AlreadyExists, [409, 'already_exists']],
  [Code.Aborted, [409, 'aborted']],
  [Code.ResourceExhausted, [429, 'resource_exhausted']],
  [Code.Unavailable, [503, 'unavailable']],
  // The gateway is newer than its service, which is being replaced.
  [Code.Unimplemented, [503, 'unavailable']],
  [Code.DeadlineExceeded, [504, 'deadline_exceeded']],
]);

/** Codes of requests that the gateway refuses by itself. */
const ownCodes = [
  [405, 'method_not_allowed'],
  [408, 'request_timeout'],
  [413, 'payload_too_large'],
  [415, 'unsupported_media_type'],
  [500, 'internal'],
] as const;

/** Every code that an error can have, by status. */
export function errorCodes(): { status: number; name: string }[] {
  const all = new Map([...statuses.values(), ...ownCodes].map(([status, name]) => [name, status]));
  return [...all].map(([name, status]) => ({ status, name })).sort((a, b) => a.status - b.status);
}

/** The status and the JSON code of a code by its name in the contract, such as NOT_FOUND. */
export function codeNamed(name: string): readonly [status: number, code: string] {
  const word = name.toLowerCase();
  return [...statuses.values()].find(([, code]) => code === word) ?? [500, 'internal'];
}

const retryable = new Set<Code>([Code.ResourceExhausted, Code.Unavailable, Code.Unimplemented]);

/** An error after a part of the work was done, which stays. */
export class DoneInPart extends Error {
  readonly done: object;

  constructor(cause: unknown, done: object) {
    super('done in part', { cause });
    this.done = done;
  }
}

/** The answer to an error. `fallback` is the whole text of internal errors. */
export function failureOf(error: unknown, fallback: string): Failure {
  if (error instanceof DoneInPart) {
    return { ...failureOf(error.cause, fallback), done: error.done };
  }
  if (error instanceof Refusal) return error.failure;
  if (error instanceof FieldError) return fieldFailure(error);
  if (error instanceof ConnectError) return serviceFailure(error, fallback);
  return { status: 500, code: 'internal', text: fallback };
}

function fieldFailure({ path, message, text }: FieldError): Failure {
  const details = path === '' ? undefined : [{ field: path, description: message }];
  return { status: 400, code: 'invalid_argument', reason: 'REQUEST_INVALID', text, details };
}

function serviceFailure(error: ConnectError, fallback: string): Failure {
  const [status, code] = statuses.get(error.code) ?? [500, 'internal'];
  const headers = { ...retryHeaders(error), ...passedOn(error.metadata) };
  const reason = reasonOf(error);
  if (status >= 500) return { status, code, reason, text: fallback, headers };
  const violations = error
    .findDetails(BadRequestSchema)
    .flatMap((detail) => detail.fieldViolations);
  const details = violations.map(({ field, description }) => ({ field, description }));
  return {
    status,
    code,
    reason,
    text: error.rawMessage,
    details: details.length > 0 ? details : undefined,
    headers,
  };
}

function retryHeaders(error: ConnectError): Record<string, string> {
  return retryable.has(error.code) ? retryAfter(retryDelayMs(error)) : {};
}
