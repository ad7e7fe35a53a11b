import { asActivity } from '#lib/temporal/activity.ts';
import type { Context } from '../context.ts';
import { finishRetries, readRetries } from '../sending/retries.ts';
import type { SubscriptionKey } from '../subscription.ts';
import { deliver } from './deliver.ts';
import { operate } from './operate.ts';

/** The activities of the workflow of webhooks. All are safe to repeat: each reads the row first. */
export function createActivities(context: Context) {
  return {
    readRetries: asActivity(
      async (key: SubscriptionKey) => (await readRetries(context, key)) ?? null,
    ),
    finishRetries: asActivity((key: SubscriptionKey) => finishRetries(context, key)),
    deliver: asActivity(deliver(context)),
    operate: asActivity(operate(context)),
  };
}

export type Activities = ReturnType<typeof createActivities>;
