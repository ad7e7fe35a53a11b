/**
 * The event of a message, in SQL: `row` names a row of messages, `time` a column of it or a parameter. A row as JSON
 * costs less than an object that is built field by field.
 */
export function eventOf(type: string, { row, time }: { row: string; time: string }): string {
  return `select 'email.${type}' as type, ${time} as occurred_at, (
    select row_to_json(fact) from (
      select ${row}.contact_email as email, ${row}.id as message_id, ${row}.template_id, ${row}.broadcast_id,
        ${row}.list_id, ${row}.channel, ${time} as event_timestamp
    ) fact
  ) as data from ${row}`;
}
