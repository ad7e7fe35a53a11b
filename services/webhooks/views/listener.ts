import { fromJson, type JsonObject, type MessageInitShape } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import type {
  WaitingWebhookEventSchema,
  WebhookListenerSchema,
} from '#gen/postrider/webhooks/v1/listeners_pb.ts';
import type { ListenerRow } from '../listening/listener.ts';

export function listenerMessage(row: ListenerRow): MessageInitShape<typeof WebhookListenerSchema> {
  return {
    id: row.id,
    eventTypes: row.event_types,
    createdAt: fromJson(TimestampSchema, row.created_at),
    expiresAt: fromJson(TimestampSchema, row.expires_at),
  };
}

/** A delivery that waits for a listener. */
export type WaitingRow = {
  id: string;
  event_type: string;
  /** RFC 3339. */
  occurred_at: string;
  data: JsonObject;
};

export function waitingMessage(
  row: WaitingRow,
): MessageInitShape<typeof WaitingWebhookEventSchema> {
  return {
    id: row.id,
    type: row.event_type,
    timestamp: fromJson(TimestampSchema, row.occurred_at),
    data: row.data,
  };
}
