import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type {
  WaitingWebhookEventSchema,
  WebhookListenerSchema,
} from '#gen/postrider/webhooks/v1/listeners_pb.ts';
import type { ListenerRow } from '../listening/listener.ts';

export function listenerMessage(row: ListenerRow): MessageInitShape<typeof WebhookListenerSchema> {
  return {
    id: row.id,
    eventTypes: row.event_types,
    createdAt: timestampFromDate(new Date(row.created_at)),
    expiresAt: timestampFromDate(new Date(row.expires_at)),
  };
}

/** A delivery that waits for a listener. */
export type WaitingRow = { id: string; event_type: string; occurred_at: string; data: JsonObject };

export function waitingMessage(
  row: WaitingRow,
): MessageInitShape<typeof WaitingWebhookEventSchema> {
  return {
    id: row.id,
    type: row.event_type,
    timestamp: timestampFromDate(new Date(row.occurred_at)),
    data: row.data,
  };
}
