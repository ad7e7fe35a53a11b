import { changeSubscription } from '../change.ts';
import type { Context, Methods } from '../context.ts';
import { newSecret } from '../endpoint-secret.ts';
import { subscriptionMessage } from '../views/subscription.ts';

export function regenerateWebhookSecret(context: Context): Methods['regenerateWebhookSecret'] {
  return async (key) => {
    const changed = await changeSubscription(context, key, (subscription) => {
      subscription.sealed_secret = context.keyring.encrypt(newSecret());
    });
    return { subscription: subscriptionMessage(changed, context.keyring) };
  };
}
