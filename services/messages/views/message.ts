import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { MessageSchema } from '#gen/postrider/messages/v1/messages_pb.ts';
import { camelKeys } from '#lib/json/camel-keys.ts';
import type { MessageRow } from '../message-queries.ts';
import type { RequestContent, StoredFile, StoredRawContent } from '../transactional/content.ts';

/** The content that a caller gave for a message. */
export type StoredRequest = RequestContent & { attachments: StoredFile[] };

/** A message as the API shows it, and what it was made from if that is known. */
export function toMessage(
  row: MessageRow,
  request?: StoredRequest,
): MessageInitShape<typeof MessageSchema> {
  return {
    id: row.id,
    externalId: row.external_id ?? undefined,
    contactEmail: row.contact_email,
    broadcastId: row.broadcast_id ?? undefined,
    listId: row.list_id ?? undefined,
    templateId: row.template_id,
    templateVersion: row.template_version,
    channel: row.channel,
    status: row.state,
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
    softBouncedAt: time(row.soft_bounced_at),
    bounceClass: row.bounce_class ?? undefined,
    diagnostic: row.diagnostic ?? undefined,
    tags: row.tags ?? [],
    createdAt: time(row.created_at),
    updatedAt: time(row.updated_at),
    transactionalNotificationId: row.notification_id || undefined,
    ...(request && given(request)),
  };
}

function given({ data, metadata, options = {}, attachments, ...source }: StoredRequest) {
  return {
    rawContent: source.kind ? toRawContent(source.content) : undefined,
    messageData: { data: data ?? {}, metadata },
    channelOptions: isSet(options) ? camelKeys(options) : undefined,
    attachments: attachments.map(camelKeys),
  };
}

function toRawContent(content: StoredRawContent) {
  const { from_email: fromEmail, from_name: fromName, reply_to: replyTo, headers } = content;
  return {
    subject: content.subject,
    fromEmail: fromEmail || undefined,
    fromName: fromName || undefined,
    replyTo: replyTo || undefined,
    headers,
    useLiquid: content.use_liquid,
  };
}

/** Whether anything differs from the template. */
function isSet(options: object): boolean {
  return Object.values(options).some((value) =>
    value !== null && typeof value === 'object' ? Object.keys(value).length > 0 : Boolean(value),
  );
}

function time(text: string | null): Timestamp | undefined {
  return text === null ? undefined : timestampFromDate(new Date(text));
}
