/** Data of an event of a message. */
export const emailData = (messageId: string, type = 'email.bounced') => ({
  email: 'ann@example.com',
  message_id: messageId,
  template_id: 'welcome',
  broadcast_id: null,
  list_id: null,
  channel: 'email',
  event_timestamp: '2030-01-01T12:00:00Z',
  tags: [],
  ...(type === 'email.bounced' && { bounce_class: 'hard', diagnostic: null }),
});

/** SQL of the same; `messageId` and `type` are SQL. */
export const emailDataSql = (messageId: string, type = `'email.bounced'`) => {
  const [bounced, other] = ['email.bounced', 'email.sent'].map((each) => {
    return `'${JSON.stringify(emailData('', each))}'::jsonb`;
  });
  return `jsonb_set(case when ${type} = 'email.bounced' then ${bounced} else ${other} end,
    '{message_id}', to_jsonb((${messageId})::text))`;
};
