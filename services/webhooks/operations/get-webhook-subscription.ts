import type { Context, Methods } from '../context.ts';
import { findSubscription } from '../subscription-queries.ts';
import { subscriptionMessage } from '../views/subscription.ts';

export function getWebhookSubscription({
  store,
  keyring,
}: Context): Methods['getWebhookSubscription'] {
  return async (key) => {
    const subscription = await findSubscription(store.fork(), key);
    return { subscription: subscriptionMessage(subscription, keyring) };
  };
}
