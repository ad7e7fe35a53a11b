import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { MessageSchema } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { MessageStatus } from '../message.ts';

/** A row as PostgreSQL gives it: times as text. */
export type MessageRow = {
  id: string;
  external_id: string | null;
  contact_email: string;
  broadcast_id: string | null;
  list_id: string | null;
  template_id: string;
  template_version: number;
  channel: string;
  status: MessageStatus;
  status_info: string | null;
  attempts: number;
  unknown: number;
  by_hand: boolean;
} & Record<TimeColumn, string | null>;

type TimeColumn = (typeof timeColumns)[number];

const timeColumns = [
  'due_at',
  'sent_at',
  'delivered_at',
  'failed_at',
  'opened_at',
  'clicked_at',
  'bounced_at',
  'complained_at',
  'unsubscribed_at',
  'created_at',
  'updated_at',
] as const;

export const messageColumns = [
  'id, external_id, contact_email, broadcast_id, list_id, template_id, template_version, channel',
  'status, status_info, attempts, unknown, by_hand',
  ...timeColumns,
].join(', ');

/** A message as the API shows it. */
export function toMessage(row: MessageRow): MessageInitShape<typeof MessageSchema> {
  return {
    id: row.id,
    externalId: row.external_id ?? undefined,
    contactEmail: row.contact_email,
    broadcastId: row.broadcast_id ?? undefined,
    listId: row.list_id ?? undefined,
    templateId: row.template_id,
    templateVersion: row.template_version,
    channel: row.channel,
    status: row.status,
    statusInfo: row.status_info ?? undefined,
    attempts: row.attempts,
    unknown: row.unknown,
    byHand: row.by_hand,
    dueAt: time(row.due_at),
    sentAt: time(row.sent_at),
    deliveredAt: time(row.delivered_at),
    failedAt: time(row.failed_at),
    openedAt: time(row.opened_at),
    clickedAt: time(row.clicked_at),
    bouncedAt: time(row.bounced_at),
    complainedAt: time(row.complained_at),
    unsubscribedAt: time(row.unsubscribed_at),
    createdAt: time(row.created_at),
    updatedAt: time(row.updated_at),
  };
}

function time(text: string | null): Timestamp | undefined {
  return text === null ? undefined : timestampFromDate(new Date(text));
}
