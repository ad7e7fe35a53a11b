import { changeSubscription } from '../change.ts';
import type { Context, Methods } from '../context.ts';
import { subscriptionMessage } from '../views/subscription.ts';

export function toggleWebhookSubscription(context: Context): Methods['toggleWebhookSubscription'] {
  return async (request) => {
    const changed = await changeSubscription(context, request, (subscription) =>
      subscription.setEnabled(request.enabled),
    );
    return { subscription: subscriptionMessage(changed, context.keyring) };
  };
}
