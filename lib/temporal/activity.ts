import { Code, ConnectError } from '@connectrpc/connect';
import { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { withoutAddresses } from '../log.ts';

/** Time for a cancelled activity to end: as long as the slowest answer that it still waits for. */
const endingMaxMs = 15_000;

const final: ReadonlySet<Code> = new Set([
  Code.InvalidArgument,
  Code.NotFound,
  Code.FailedPrecondition,
  Code.PermissionDenied,
]);

/**
 * Makes a function an activity: a permanent error fails it at once under the name of its code, and
 * no failure carries an address into a history. One that goes on after it was cancelled is given
 * up, so that its worker can end.
 */
export function asActivity<Arguments extends unknown[], Result>(
  work: (...given: Arguments) => Promise<Result>,
): (...given: Arguments) => Promise<Result> {
  return async (...given) => {
    try {
      return await Promise.race([work(...given), givenUp(Context.current().cancellationSignal)]);
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

function givenUp(cancellation: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = () =>
      reject(new CancelledFailure('the activity did not end after its cancellation'));
    const begin = () => setTimeout(giveUp, endingMaxMs).unref();
    if (cancellation.aborted) begin();
    cancellation.addEventListener('abort', begin, { once: true });
  });
}
