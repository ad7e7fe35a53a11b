import type { Context, Methods } from '../context.ts';
import { changeSubscription } from '../lifecycle/change.ts';
import { subscriptionMessage } from '../views/subscription.ts';

export function toggleWebhookSubscription(context: Context): Methods['toggleWebhookSubscription'] {
  return async (request, call) => {
    const changed = await changeSubscription(
      context,
      request,
      (subscription) => subscription.setEnabled(request.enabled),
      call,
    );
    return { subscription: subscriptionMessage(changed, context.keyring) };
  };
}
