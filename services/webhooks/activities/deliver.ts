import { Context } from '@temporalio/activity';
import type { SendingContext } from '../sending/attempt.ts';
import { deliverRetries } from '../sending/retries.ts';
import type { SubscriptionKey } from '../subscription.ts';

const workMaxMs = 60_000;

/**
 * Sends the retries that are due, for a minute at most. Answers whether it ended before all were
 * sent.
 */
export function deliver(context: SendingContext) {
  return async (key: SubscriptionKey): Promise<{ hasMore: boolean }> => {
    const activity = Context.current();
    const until = new Date(Date.now() + workMaxMs);
    await deliverRetries(context, key, {
      until,
      signal: activity.cancellationSignal,
      heartbeat: () => activity.heartbeat(),
    });
    return { hasMore: Date.now() >= until.getTime() };
  };
}
