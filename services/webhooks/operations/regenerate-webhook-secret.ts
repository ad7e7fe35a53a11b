import { newSecret, sealSecret } from '../callback/secret.ts';
import type { Context, Methods } from '../context.ts';
import { changeSubscription } from '../lifecycle/change.ts';
import { subscriptionMessage } from '../views/subscription.ts';

export function regenerateWebhookSecret(context: Context): Methods['regenerateWebhookSecret'] {
  return async (key, call) => {
    const changed = await changeSubscription(
      context,
      key,
      (subscription) => {
        subscription.sealed_secret = sealSecret(context.keyring, key, newSecret());
      },
      call,
    );
    return { subscription: subscriptionMessage(changed, context.keyring) };
  };
}
