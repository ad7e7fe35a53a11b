import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { NotificationSchema } from '#gen/postrider/messages/v1/transactional_pb.ts';
import { camelKeys } from '#lib/json/camel-keys.ts';
import type { Notification } from '../notification.ts';

/** A notification as the API shows it. */
export function toNotification(row: Notification): MessageInitShape<typeof NotificationSchema> {
  const channels = Object.entries(row.channels).map(([name, channel]) => [
    name,
    camelKeys(channel),
  ]);
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    channels: Object.fromEntries(channels),
    trackingSettings: camelKeys(row.tracking_settings),
    metadata: row.metadata ?? undefined,
    integrationId: row.integration_id,
    sendToBounced: row.send_to_bounced,
    tags: row.tags ?? [],
    ttlSeconds: row.ttl_seconds ?? 0,
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}
