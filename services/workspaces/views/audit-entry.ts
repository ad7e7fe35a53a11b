import { fromJson, type JsonObject } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';

export type AuditRow = {
  id: string;
  /** In RFC 3339. */
  time: string;
  actor_type: string;
  actor_id: string;
  actor_name: string;
  action: string;
  target_id: string;
  client_address: string;
  request_id: string;
  before: JsonObject | null;
  after: JsonObject | null;
};

export function auditEntryMessage(row: AuditRow) {
  return {
    id: row.id,
    createdAt: fromJson(TimestampSchema, row.time),
    actorType: row.actor_type,
    actorId: row.actor_id,
    actorName: row.actor_name,
    action: row.action,
    targetId: row.target_id,
    clientAddress: row.client_address,
    requestId: row.request_id,
    ...(row.before ? { before: row.before } : {}),
    ...(row.after ? { after: row.after } : {}),
  };
}
