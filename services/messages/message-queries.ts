import type { MessageStatus } from './message.ts';

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
