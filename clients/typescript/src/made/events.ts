// Made from the contract by `npm run gen`.
import type * as types from './types.ts';

/** The body of a webhook, by the type of its event. */
export type WebhookEvents = {
  /**
   * A contact is new.
   *
   * Since 0.2.0.
   */
  'contact.created': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'contact.created';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.ContactCreated;
  };
  /**
   * A field of a contact has another value.
   *
   * Since 0.2.0.
   */
  'contact.updated': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'contact.updated';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.ContactUpdated;
  };
  /**
   * A contact was deleted.
   *
   * Since 0.2.0.
   */
  'contact.deleted': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'contact.deleted';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.ContactDeleted;
  };
  /**
   * A contact is on a list for the first time, or again after it was removed.
   *
   * Since 0.2.0.
   */
  'list.subscribed': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'list.subscribed';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.ListSubscribed;
  };
  /**
   * The person, or a caller, ended a membership.
   *
   * Since 0.2.0.
   */
  'list.unsubscribed': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'list.unsubscribed';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.ListUnsubscribed;
  };
  /**
   * A pending subscription became active.
   *
   * Since 0.2.0.
   */
  'list.confirmed': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'list.confirmed';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.ListConfirmed;
  };
  /**
   * A contact is back after an unsubscribe, bounce or complaint.
   *
   * Since 0.2.0.
   */
  'list.resubscribed': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'list.resubscribed';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.ListResubscribed;
  };
  /**
   * The address bounced for good; one event for each of its lists.
   *
   * Since 0.2.0.
   */
  'list.bounced': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'list.bounced';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.ListBounced;
  };
  /**
   * A message was reported as spam.
   *
   * Since 0.2.0.
   */
  'list.complained': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'list.complained';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.ListComplained;
  };
  /**
   * A confirmation is awaited.
   *
   * Since 0.2.0.
   */
  'list.pending': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'list.pending';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.ListPending;
  };
  /**
   * A contact was taken off a list, or the list was deleted.
   *
   * Since 0.2.0.
   */
  'list.removed': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'list.removed';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.ListRemoved;
  };
  /**
   * The conditions of a segment hold for a contact now.
   *
   * Since 0.2.0.
   */
  'segment.joined': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'segment.joined';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.SegmentJoined;
  };
  /**
   * The conditions of a segment hold for a contact no more, or the segment or the contact was
   * deleted.
   *
   * Since 0.2.0.
   */
  'segment.left': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'segment.left';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.SegmentLeft;
  };
  /**
   * The mail server took a message.
   *
   * Since 0.2.0.
   */
  'email.sent': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'email.sent';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.EmailSent;
  };
  /**
   * The provider reported a message as delivered.
   *
   * Since 0.2.0.
   */
  'email.delivered': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'email.delivered';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.EmailDelivered;
  };
  /**
   * A person opened a message, for the first time.
   *
   * Since 0.2.0.
   */
  'email.opened': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'email.opened';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.EmailOpened;
  };
  /**
   * A person clicked in a message, for the first time.
   *
   * Since 0.2.0.
   */
  'email.clicked': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'email.clicked';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.EmailClicked;
  };
  /**
   * A message bounced for good.
   *
   * Since 0.2.0.
   */
  'email.bounced': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'email.bounced';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.EmailBounced;
  };
  /**
   * A message was reported as spam.
   *
   * Since 0.2.0.
   */
  'email.complained': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'email.complained';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.EmailComplained;
  };
  /**
   * The person unsubscribed by a link of a message.
   *
   * Since 0.2.0.
   */
  'email.unsubscribed': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'email.unsubscribed';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.EmailUnsubscribed;
  };
  /**
   * A custom event is new, or was restored.
   *
   * Since 0.2.0.
   */
  'custom_event.created': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'custom_event.created';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.CustomEventCreated;
  };
  /**
   * A custom event was changed.
   *
   * Since 0.2.0.
   */
  'custom_event.updated': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'custom_event.updated';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.CustomEventUpdated;
  };
  /**
   * A custom event was deleted.
   *
   * Since 0.2.0.
   */
  'custom_event.deleted': {
    /** The delivery; the same in each attempt, and for no other event. */
    id: string;
    type: 'custom_event.deleted';
    workspace_id: string;
    /**
     * When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
     * later one has the later time.
     */
    timestamp: string;
    data: types.CustomEventDeleted;
  };
};

/** The body of any webhook; `type` says which one. */
export type WebhookEvent = WebhookEvents[keyof WebhookEvents];
