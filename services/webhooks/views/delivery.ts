import { fromJson, type JsonObject, type MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';
import type { WebhookDeliverySchema } from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import { attemptsMax, payloadSql } from '../delivery.ts';

/** A delivery as JSON of PostgreSQL. */
export type DeliveryRow = {
  id: string;
  subscription_id: string;
  event_type: string;
  payload: JsonObject;
  status: string;
  attempts: number;
  next_attempt_at: string | null;
  last_attempt_at: string | null;
  delivered_at: string | null;
  last_response_status: number | null;
  last_response_body: string | null;
  last_error: string | null;
  created_at: string;
  occurred_at: string;
};

/** SQL of the columns of a `DeliveryRow`. */
export const deliveryColumns = (delivery: string) =>
  `${delivery}.id, ${delivery}.subscription_id, ${delivery}.event_type, ${payloadSql(delivery)} as payload, ${delivery}.status,
   ${delivery}.attempts, ${delivery}.next_attempt_at, ${delivery}.last_attempt_at, ${delivery}.delivered_at,
   ${delivery}.last_response_status, ${delivery}.last_response_body, ${delivery}.last_error, ${delivery}.created_at,
   coalesce(${delivery}.occurred_at, ${delivery}.created_at) as occurred_at`;

export function deliveryMessage(row: DeliveryRow): MessageInitShape<typeof WebhookDeliverySchema> {
  return {
    id: row.id,
    subscriptionId: row.subscription_id,
    eventType: row.event_type,
    payload: row.payload,
    status: row.status,
    attempts: row.attempts,
    maxAttempts: attemptsMax,
    nextAttemptAt: timeOf(row.next_attempt_at),
    lastAttemptAt: timeOf(row.last_attempt_at),
    deliveredAt: timeOf(row.delivered_at),
    lastResponseStatus: row.last_response_status ?? undefined,
    lastResponseBody: row.last_response_body ?? undefined,
    lastError: row.last_error ?? undefined,
    createdAt: timeOf(row.created_at),
    occurredAt: timeOf(row.occurred_at),
  };
}

/** To the microsecond, since callers ask by these times for what came before and after. */
function timeOf(text: string | null): Timestamp | undefined {
  return text === null ? undefined : fromJson(TimestampSchema, text);
}
