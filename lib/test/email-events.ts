/** Data of an event of a message, such as `email.bounced`. */
export const emailData = (messageId: string) => ({
  email: 'ann@example.com',
  message_id: messageId,
  template_id: 'welcome',
  broadcast_id: null,
  list_id: null,
  channel: 'email',
  event_timestamp: '2030-01-01T12:00:00Z',
});

/** SQL of the same; `messageId` is SQL. */
export const emailDataSql = (messageId: string) =>
  `jsonb_set('${JSON.stringify(emailData(''))}', '{message_id}', to_jsonb((${messageId})::text))`;
