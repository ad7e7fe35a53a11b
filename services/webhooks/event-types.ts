/** All types of events, in the order of the API. */
export const eventTypes = [
  'contact.created',
  'contact.updated',
  'contact.deleted',
  'list.subscribed',
  'list.unsubscribed',
  'list.confirmed',
  'list.resubscribed',
  'list.bounced',
  'list.complained',
  'list.pending',
  'list.removed',
  'segment.joined',
  'segment.left',
  'email.sent',
  'email.delivered',
  'email.opened',
  'email.clicked',
  'email.bounced',
  'email.complained',
  'email.unsubscribed',
  'custom_event.created',
  'custom_event.updated',
  'custom_event.deleted',
] as const;

/**
 * The resource that holds what the data of an event do. Getting such events needs the right to read
 * it.
 */
export function resourceOf(type: string): 'contacts' | 'message_history' {
  return type.startsWith('email.') ? 'message_history' : 'contacts';
}
