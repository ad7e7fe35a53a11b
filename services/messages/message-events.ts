/** What is told of a message, in SQL: `row` names a row of messages, `time` a column of it or a parameter. */
export function eventOf(type: string, { row, time }: { row: string; time: string }): string {
  return `select 'email.${type}' as type, ${time} as occurred_at, json_build_object(
    'email', ${row}.contact_email, 'message_id', ${row}.id, 'template_id', ${row}.template_id,
    'broadcast_id', ${row}.broadcast_id, 'list_id', ${row}.list_id, 'channel', ${row}.channel,
    'event_timestamp', ${time}
  ) as data from ${row}`;
}
