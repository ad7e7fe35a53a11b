# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from . import types


class ContactCreatedEvent(t.TypedDict):
    """
    A contact is new.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["contact.created"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.ContactCreated


class ContactUpdatedEvent(t.TypedDict):
    """
    A field of a contact has another value.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["contact.updated"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.ContactUpdated


class ContactDeletedEvent(t.TypedDict):
    """
    A contact was deleted.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["contact.deleted"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.ContactDeleted


class ListSubscribedEvent(t.TypedDict):
    """
    A contact is on a list for the first time, or again after it was removed.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["list.subscribed"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.ListSubscribed


class ListUnsubscribedEvent(t.TypedDict):
    """
    The person, or a caller, ended a membership.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["list.unsubscribed"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.ListUnsubscribed


class ListConfirmedEvent(t.TypedDict):
    """
    A pending subscription became active.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["list.confirmed"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.ListConfirmed


class ListResubscribedEvent(t.TypedDict):
    """
    A contact is back after an unsubscribe, bounce or complaint.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["list.resubscribed"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.ListResubscribed


class ListBouncedEvent(t.TypedDict):
    """
    The address bounced for good; one event for each of its lists.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["list.bounced"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.ListBounced


class ListComplainedEvent(t.TypedDict):
    """
    A message was reported as spam.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["list.complained"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.ListComplained


class ListPendingEvent(t.TypedDict):
    """
    A confirmation is awaited.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["list.pending"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.ListPending


class ListRemovedEvent(t.TypedDict):
    """
    A contact was taken off a list, or the list was deleted.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["list.removed"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.ListRemoved


class SegmentJoinedEvent(t.TypedDict):
    """
    The conditions of a segment hold for a contact now.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["segment.joined"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.SegmentJoined


class SegmentLeftEvent(t.TypedDict):
    """
    The conditions of a segment hold for a contact no more, or the segment or the contact was
    deleted.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["segment.left"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.SegmentLeft


class EmailSentEvent(t.TypedDict):
    """
    The mail server took a message.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["email.sent"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.EmailSent


class EmailDeliveredEvent(t.TypedDict):
    """
    The provider reported a message as delivered.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["email.delivered"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.EmailDelivered


class EmailOpenedEvent(t.TypedDict):
    """
    A person opened a message, for the first time.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["email.opened"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.EmailOpened


class EmailClickedEvent(t.TypedDict):
    """
    A person clicked in a message, for the first time.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["email.clicked"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.EmailClicked


class EmailBouncedEvent(t.TypedDict):
    """
    A message bounced for good.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["email.bounced"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.EmailBounced


class EmailComplainedEvent(t.TypedDict):
    """
    A message was reported as spam.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["email.complained"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.EmailComplained


class EmailUnsubscribedEvent(t.TypedDict):
    """
    The person unsubscribed by a link of a message.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["email.unsubscribed"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.EmailUnsubscribed


class CustomEventCreatedEvent(t.TypedDict):
    """
    A custom event is new, or was restored.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["custom_event.created"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.CustomEventCreated


class CustomEventUpdatedEvent(t.TypedDict):
    """
    A custom event was changed.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["custom_event.updated"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.CustomEventUpdated


class CustomEventDeletedEvent(t.TypedDict):
    """
    A custom event was deleted.

    Since 0.2.0.
    """

    id: str
    """The delivery; the same in each attempt, and for no other event."""

    type: t.Literal["custom_event.deleted"]

    workspace_id: str

    timestamp: str
    """
    When it happened, in microseconds; the same in each attempt. Of two changes of a contact the
    later one has the later time.
    """

    data: types.CustomEventDeleted


WebhookEvent = t.Union[
    ContactCreatedEvent,
    ContactUpdatedEvent,
    ContactDeletedEvent,
    ListSubscribedEvent,
    ListUnsubscribedEvent,
    ListConfirmedEvent,
    ListResubscribedEvent,
    ListBouncedEvent,
    ListComplainedEvent,
    ListPendingEvent,
    ListRemovedEvent,
    SegmentJoinedEvent,
    SegmentLeftEvent,
    EmailSentEvent,
    EmailDeliveredEvent,
    EmailOpenedEvent,
    EmailClickedEvent,
    EmailBouncedEvent,
    EmailComplainedEvent,
    EmailUnsubscribedEvent,
    CustomEventCreatedEvent,
    CustomEventUpdatedEvent,
    CustomEventDeletedEvent,
]
"""The body of any webhook; `type` says which one."""
