import { Code, ConnectError } from '@connectrpc/connect';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { withoutAddresses } from '../log.ts';

const final: ReadonlySet<Code> = new Set([
  Code.InvalidArgument,
  Code.NotFound,
  Code.FailedPrecondition,
  Code.PermissionDenied,
]);

/**
 * Makes a function an activity: a permanent error fails it at once under the name of its code, and no failure carries
 * an address into a history.
 */
export function asActivity<Arguments extends unknown[], Result>(
  work: (...given: Arguments) => Promise<Result>,
): (...given: Arguments) => Promise<Result> {
  return async (...given) => {
    try {
      return await work(...given);
    } catch (error) {
      if (error instanceof ApplicationFailure || error instanceof CancelledFailure) throw error;
      const failure = ConnectError.from(error);
      throw ApplicationFailure.create({
        message: withoutAddresses(failure.rawMessage),
        type: Code[failure.code],
        nonRetryable: final.has(failure.code),
      });
    }
  };
}
