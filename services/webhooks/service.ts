import type { ConnectRouter } from '@connectrpc/connect';
import {
  EventConsumerService,
  PersonDataService,
  WorkspaceDataService,
} from '#gen/postrider/events/v1/events_pb.ts';
import { WebhookListenerService } from '#gen/postrider/webhooks/v1/listeners_pb.ts';
import { WebhookSubscriptionService } from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import { countUsage } from '#lib/rpc/server/count-usage.ts';
import { eraseWorkspace } from '#lib/rpc/server/erase-workspace.ts';
import { listPersonRecords } from '#lib/rpc/server/person-records.ts';
import type { Context } from './context.ts';
import { erasedTables, personSources } from './kept-data.ts';
import { consumeEventBatches } from './operations/consume-event-batches.ts';
import { consumeEvents } from './operations/consume-events.ts';
import { createWebhookListener } from './operations/create-webhook-listener.ts';
import { createWebhookSubscription } from './operations/create-webhook-subscription.ts';
import { deleteWebhookSubscription } from './operations/delete-webhook-subscription.ts';
import { endWebhookListener } from './operations/end-webhook-listener.ts';
import { getWebhookSubscription } from './operations/get-webhook-subscription.ts';
import { listWebhookDeliveries } from './operations/list-webhook-deliveries.ts';
import { listWebhookEventTypes } from './operations/list-webhook-event-types.ts';
import { listWebhookSubscriptions } from './operations/list-webhook-subscriptions.ts';
import { redeliverWebhooks } from './operations/redeliver-webhooks.ts';
import { regenerateWebhookSecret } from './operations/regenerate-webhook-secret.ts';
import { takeWebhookEvents } from './operations/take-webhook-events.ts';
import { testWebhookSubscription } from './operations/test-webhook-subscription.ts';
import { toggleWebhookSubscription } from './operations/toggle-webhook-subscription.ts';
import { triggerWebhookEvent } from './operations/trigger-webhook-event.ts';
import { updateWebhookSubscription } from './operations/update-webhook-subscription.ts';

export const services = [
  WebhookSubscriptionService,
  WebhookListenerService,
  EventConsumerService,
  PersonDataService,
  WorkspaceDataService,
];

/** Webhook subscriptions and listeners, and their deliveries. */
export function webhooksRoutes(context: Context) {
  return (router: ConnectRouter): void => {
    router.service(WebhookSubscriptionService, {
      listWebhookSubscriptions: listWebhookSubscriptions(context),
      getWebhookSubscription: getWebhookSubscription(context),
      createWebhookSubscription: createWebhookSubscription(context),
      updateWebhookSubscription: updateWebhookSubscription(context),
      toggleWebhookSubscription: toggleWebhookSubscription(context),
      deleteWebhookSubscription: deleteWebhookSubscription(context),
      regenerateWebhookSecret: regenerateWebhookSecret(context),
      testWebhookSubscription: testWebhookSubscription(context),
      listWebhookDeliveries: listWebhookDeliveries(context),
      redeliverWebhooks: redeliverWebhooks(context),
      listWebhookEventTypes: listWebhookEventTypes(),
    });
    router.service(WebhookListenerService, {
      createWebhookListener: createWebhookListener(context),
      takeWebhookEvents: takeWebhookEvents(context),
      endWebhookListener: endWebhookListener(context),
      triggerWebhookEvent: triggerWebhookEvent(context),
    });
    router.service(EventConsumerService, {
      consumeEvents: consumeEvents(context),
      consumeEventBatches: consumeEventBatches(context),
    });
    router.service(PersonDataService, {
      listPersonRecords: listPersonRecords((person) => personSources(context.store, person)),
    });
    router.service(WorkspaceDataService, {
      eraseWorkspace: eraseWorkspace(context.store, erasedTables(context)),
      countUsage: countUsage(context.quotas),
    });
  };
}
