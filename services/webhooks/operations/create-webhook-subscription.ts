import { WebhookSubscriptionService } from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import { changeInterests } from '#lib/events/interest-pushes.ts';
import { quotaExceeded } from '#lib/quotas/quotas.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import { newSecret, sealSecret } from '../callback/secret.ts';
import type { Context, Methods } from '../context.ts';
import { contentOf } from '../input/content.ts';
import { requireReading } from '../input/rights.ts';
import { interests } from '../interests/interests.ts';
import { Subscription } from '../subscription.ts';
import { subscriptionMessage } from '../views/subscription.ts';

export function createWebhookSubscription(context: Context): Methods['createWebhookSubscription'] {
  const { store, keyring, quotas, now } = context;
  const method = WebhookSubscriptionService.method.createWebhookSubscription;
  return async (request, call) => {
    const { workspaceId } = request;
    const content = await contentOf(context, request);
    requireReading(call, content.event_types);
    const quota = await quotas.quotaOf(workspaceId, 'webhook_subscriptions');
    const at = now();
    return once(store, call, method, request, (em) =>
      changeInterests(interests, context.producers, { em, workspaceId }, async () => {
        const used = await em.count(Subscription, { workspace_id: workspaceId });
        if (used >= quota) throw quotaExceeded('webhook_subscriptions', { used, quota });
        const id = crypto.randomUUID().replaceAll('-', '');
        const subscription = em.create(Subscription, {
          ...content,
          workspace_id: workspaceId,
          id,
          sealed_secret: sealSecret(keyring, { workspaceId, id }, newSecret()),
          source: request.source,
          enabled: true,
          failures_in_row: 0,
          created_at: at,
          updated_at: at,
        });
        await em.flush();
        return { subscription: subscriptionMessage(subscription, keyring) };
      }),
    );
  };
}
