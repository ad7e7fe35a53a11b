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
  state: MessageState;
  status_info: string | null;
  attempts: number;
  unknown: number;
  by_hand: boolean;
  notification_id: string | null;
  bounce_class: string | null;
  diagnostic: string | null;
  tags: string[] | null;
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
  'soft_bounced_at',
  'created_at',
  'updated_at',
] as const;

/** A message as its readers see it; the column `status` is the queue's. */
export const messageStates = [
  'queued',
  'sending',
  'sent',
  'delivered',
  'deferred',
  'failed',
  'bounced',
  'complained',
  'skipped',
  'cancelled',
  'expired',
] as const;
export type MessageState = (typeof messageStates)[number];

/**
 * The state of a row of messages, in SQL: the latest that is known of the mail, else that of the
 * queue.
 */
export const stateSql = `case when complained_at is not null then 'complained'
  when bounced_at is not null then 'bounced'
  when status = 'sent' and delivered_at is not null then 'delivered'
  when status = 'deferred' and attempts = 0 then 'queued'
  else status end`;

export const messageColumns = [
  'id, external_id, contact_email, broadcast_id, list_id, template_id, template_version, channel',
  `${stateSql} as state, status_info, attempts, unknown, by_hand, notification_id, bounce_class, diagnostic, tags`,
  ...timeColumns,
].join(', ');

/** Tables with further data of a message. */
export const satellites = [
  'message_requests',
  'message_attachments',
  'message_bodies',
  'message_contents',
];
