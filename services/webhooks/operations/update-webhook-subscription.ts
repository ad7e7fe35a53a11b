import type { Context, Methods } from '../context.ts';
import { contentOf } from '../input/content.ts';
import { requireReading } from '../input/rights.ts';
import { changeSubscription } from '../lifecycle/change.ts';
import { findSubscription } from '../subscription-queries.ts';
import { subscriptionMessage } from '../views/subscription.ts';

export function updateWebhookSubscription(context: Context): Methods['updateWebhookSubscription'] {
  return async (request, call) => {
    const had = await findSubscription(context.store.fork(), request);
    const content = await contentOf(context, request, had);
    // Also for types that it had: a new address gets them.
    requireReading(call, content.event_types);
    const changed = await changeSubscription(
      context,
      request,
      (subscription) => {
        if (subscription.url !== content.url) subscription.forgetFailures();
        Object.assign(subscription, content);
        if (request.enabled !== undefined) subscription.setEnabled(request.enabled);
      },
      call,
    );
    return { subscription: subscriptionMessage(changed, context.keyring) };
  };
}
