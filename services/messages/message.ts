import { hash } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { MessageSchema } from '#gen/postrider/messages/v1/messages_pb.ts';

export type MessageStatus = 'sending' | 'sent' | 'failed' | 'skipped' | 'deferred';

/** What became of a message: `unknown` counts the tries that got no answer, `info` has the server's last words. */
export type Fate = { status: MessageStatus; unknown: number; info: string; dueAt?: Date };

/** The id of a broadcast's message to an address: asked for twice, it is the same one. */
export function broadcastMessageId(
  workspaceId: string,
  broadcastId: string,
  email: string,
): string {
  const hex = hash('sha256', `${workspaceId}\0${broadcastId}\0${email}`, 'hex');
  // UUID version 8: bits of our own making, but for those that say so.
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const minuteMs = 60_000;
const waitsMs = [1, 5, 15, 60].map((minutes) => minutes * minuteMs);
/** What is still refused after a day is refused for good. */
const deferralMaxMs = 24 * 60 * minuteMs;

/** When a refused message is tried again; undefined when it is not any more. A delay that the server states is kept. */
export function nextDueAt(given: {
  attempts: number;
  createdAt: Date;
  now: Date;
  retryAfterMs?: number;
}): Date | undefined {
  const scheduled = waitsMs[given.attempts - 1] ?? 60 * minuteMs;
  const due = given.now.getTime() + Math.max(scheduled, given.retryAfterMs ?? 0);
  return due - given.createdAt.getTime() > deferralMaxMs ? undefined : new Date(due);
}

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
