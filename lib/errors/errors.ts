import { create } from '@bufbuild/protobuf';
import { durationFromMs, durationMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { BadRequestSchema, RetryInfoSchema } from '#gen/google/rpc/error_details_pb.ts';
import { refusal } from './reasons.ts';

/** Long enough for a process to restart, short enough to wait for. */
export const retryDefaultMs = 1_000;

const final: readonly Code[] = [Code.InvalidArgument, Code.NotFound, Code.FailedPrecondition];

/** A field that breaks a rule. */
export type FieldFault = { field: string; description: string };

/** InvalidArgument that names its fields; the first one's description is the error's text. */
export function invalidFields(faults: readonly [FieldFault, ...FieldFault[]]): ConnectError {
  const detail = create(BadRequestSchema, { fieldViolations: [...faults] });
  return new ConnectError(faults[0].description, Code.InvalidArgument, undefined, [
    { desc: BadRequestSchema, value: detail },
  ]);
}

/**
 * InvalidArgument for one field. The description is a complete text, such as `name is required`.
 */
export function invalidField(field: string, description: string): ConnectError {
  return invalidFields([{ field, description }]);
}

/** A temporary error, with a retry delay. */
export function retryLater(text: string, code: Code, retryMs: number): ConnectError {
  // A fraction of a millisecond cannot be sent.
  const detail = create(RetryInfoSchema, { retryDelay: durationFromMs(Math.ceil(retryMs)) });
  return new ConnectError(text, code, undefined, [{ desc: RetryInfoSchema, value: detail }]);
}

/** The delay after which a temporary error may be over. */
export function retryDelayMs(error: ConnectError): number {
  const delay = error.findDetails(RetryInfoSchema).at(0)?.retryDelay;
  return delay ? durationMs(delay) : retryDefaultMs;
}

/** Whether an error comes again until the workspace changes its request or its settings. */
export function isFinal(error: unknown): error is ConnectError {
  return error instanceof ConnectError && final.includes(error.code);
}

export function refusedInDemo(): ConnectError {
  return refusal('DEMO_MODE', 'This operation is not allowed in demo mode');
}
