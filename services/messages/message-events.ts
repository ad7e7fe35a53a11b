import type { ClaimGroup } from './claims.ts';

/** What is told of a message, in SQL: `row` names a row of messages, `time` a column of it or a parameter. */
export function eventOf(type: string, { row, time }: { row: string; time: string }): string {
  return `select 'email.${type}' as type, ${time} as occurred_at, json_build_object(
    'email', ${row}.contact_email, 'message_id', ${row}.id, 'template_id', ${row}.template_id,
    'broadcast_id', ${row}.broadcast_id, 'list_id', ${row}.list_id, 'channel', ${row}.channel,
    'event_timestamp', ${time}
  ) as data from ${row}`;
}

/** The same for one that is at hand: a hot path, where PostgreSQL would spend as much on the JSON as on the record. */
export function eventText(
  { id, email }: { id: string; email: string },
  { group, at }: { group: ClaimGroup; at: Date },
): string {
  return JSON.stringify({
    email,
    message_id: id,
    template_id: group.templateId,
    broadcast_id: group.broadcastId,
    list_id: group.listId,
    channel: 'email',
    event_timestamp: at,
  });
}
