import type { Context, Methods } from '../context.ts';
import { Subscription } from '../subscription.ts';
import { subscriptionMessage } from '../views/subscription.ts';

export function listWebhookSubscriptions({
  store,
  keyring,
}: Context): Methods['listWebhookSubscriptions'] {
  return async ({ workspaceId, limit }) => {
    const found = await store
      .fork()
      .find(
        Subscription,
        { workspace_id: workspaceId },
        { orderBy: { created_at: 'desc', id: 'asc' }, ...(limit ? { limit } : {}) },
      );
    return { subscriptions: found.map((each) => subscriptionMessage(each, keyring)) };
  };
}
