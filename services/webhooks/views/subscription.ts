import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { WebhookSubscriptionSchema } from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import { camelKeys } from '#lib/json/camel-keys.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { openSecret } from '../callback/secret.ts';
import type { Subscription } from '../subscription.ts';

export function subscriptionMessage(
  subscription: Subscription,
  keyring: Keyring,
): MessageInitShape<typeof WebhookSubscriptionSchema> {
  const {
    workspace_id: workspaceId,
    id,
    event_types: eventTypes,
    list_ids: listIds,
    segment_ids: segmentIds,
  } = subscription;
  const filters = subscription.custom_event_filters;
  const settings = {
    eventTypes,
    listIds,
    segmentIds,
    ...(filters ? { customEventFilters: camelKeys(filters) } : {}),
  };
  return {
    id: subscription.id,
    name: subscription.name,
    url: subscription.url,
    secret: openSecret(keyring, { workspaceId, id }, subscription.sealed_secret),
    ...settings,
    settings,
    enabled: subscription.enabled,
    disabledReason: subscription.disabled_reason ?? undefined,
    source: subscription.source,
    lastDeliveryAt: timeOf(subscription.last_delivery_at),
    backlogDroppedAt: timeOf(subscription.dropped_at),
    createdAt: timestampFromDate(subscription.created_at),
    updatedAt: timestampFromDate(subscription.updated_at),
  };
}

function timeOf(date: Date | null | undefined): Timestamp | undefined {
  return date ? timestampFromDate(date) : undefined;
}
