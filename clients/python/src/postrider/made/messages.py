# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_LIST = Operation("GET", "/api/messages.list")
_GET = Operation("GET", "/api/messages.get")
_WHY = Operation("GET", "/api/messages.why")
_EXPORT = Operation("GET", "/api/messages.export")
_RETRY = Operation("POST", "/api/messages.retry")
_TAG_STATS = Operation("GET", "/api/messages.tagStats")
_BROADCAST_STATS = Operation("GET", "/api/messages.broadcastStats")


class MessagesListQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    cursor: NotRequired[str]
    """`next_cursor` of the page before; empty for the first."""

    limit: NotRequired[int]
    """1 to 1,000; 20 if absent."""

    id: NotRequired[str]
    """Only this message."""

    external_id: NotRequired[str]
    """Only messages with this key of the caller's."""

    list_id: NotRequired[str]
    """Only messages to this list."""

    channel: NotRequired[str]
    """Only this channel; `email`."""

    contact_email: NotRequired[str]
    """Only messages to this address."""

    broadcast_id: NotRequired[str]
    """Only messages of this broadcast."""

    template_id: NotRequired[str]
    """Only messages of this template."""

    is_sent: NotRequired[bool]
    """Only messages that the server accepted, or others."""

    is_delivered: NotRequired[bool]
    """Only those reported delivered, or others. Over SMTP none is."""

    is_failed: NotRequired[bool]
    """Only failed ones, or others."""

    is_opened: NotRequired[bool]
    """Only opened ones, or others."""

    is_clicked: NotRequired[bool]
    """Only clicked ones, or others."""

    is_bounced: NotRequired[bool]
    """Only bounced ones, or others."""

    is_complained: NotRequired[bool]
    """Only complained ones, or others. Over SMTP none is."""

    is_unsubscribed: NotRequired[bool]
    """Only those by whose link the recipient unsubscribed, or others."""

    sent_after: NotRequired[str]
    """Sent at or after."""

    sent_before: NotRequired[str]
    """Sent at or before."""

    updated_after: NotRequired[str]
    """Changed at or after."""

    updated_before: NotRequired[str]
    """Changed at or before."""

    notification_id: NotRequired[str]
    """Only messages of this notification."""

    contact_email_prefix: NotRequired[str]
    """
    Only messages to addresses that begin with this text, in any case; at most 254 characters. Not
    used beside `contact_email`. Messages come in the order of addresses then.
    """

    status: NotRequired[str]
    """Only messages in this state, one of those of `status` in a message."""

    tag: NotRequired[str]
    """Only messages with this tag."""


class MessagesGetQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The message."""


class MessagesWhyQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    email: str
    """The address."""

    broadcast_id: NotRequired[str]
    """Only mail of this broadcast."""

    notification_id: NotRequired[str]
    """Only mail of this notification."""


class MessagesExportQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    limit: NotRequired[int]
    """Messages of a page, 1 to 1,000; 500 if absent. A page may have fewer."""

    id: NotRequired[str]
    """Only this message."""

    external_id: NotRequired[str]
    """Only messages with this key of the caller's."""

    list_id: NotRequired[str]
    """Only messages to this list."""

    channel: NotRequired[str]
    """Only this channel; `email`."""

    contact_email: NotRequired[str]
    """Only messages to this address."""

    broadcast_id: NotRequired[str]
    """Only messages of this broadcast."""

    template_id: NotRequired[str]
    """Only messages of this template."""

    is_sent: NotRequired[bool]
    """Only messages that the server accepted, or others."""

    is_delivered: NotRequired[bool]
    """Only those reported delivered, or others. Over SMTP none is."""

    is_failed: NotRequired[bool]
    """Only failed ones, or others."""

    is_opened: NotRequired[bool]
    """Only opened ones, or others."""

    is_clicked: NotRequired[bool]
    """Only clicked ones, or others."""

    is_bounced: NotRequired[bool]
    """Only bounced ones, or others."""

    is_complained: NotRequired[bool]
    """Only complained ones, or others. Over SMTP none is."""

    is_unsubscribed: NotRequired[bool]
    """Only those by whose link the recipient unsubscribed, or others."""

    sent_after: NotRequired[str]
    """Sent at or after."""

    sent_before: NotRequired[str]
    """Sent at or before."""

    updated_after: NotRequired[str]
    """Changed at or after."""

    updated_before: NotRequired[str]
    """Changed at or before."""

    notification_id: NotRequired[str]
    """Only messages of this notification."""

    contact_email_prefix: NotRequired[str]
    """
    Only messages to addresses that begin with this text, in any case; at most 254 characters. Not
    used beside `contact_email`. Messages come in the order of addresses then.
    """

    status: NotRequired[str]
    """Only messages in this state, one of those of `status` in a message."""

    tag: NotRequired[str]
    """Only messages with this tag."""


class MessagesTagStatsQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    tag: NotRequired[str]
    """Only this tag; all tags if empty."""

    from_: str
    """The first day, such as `2026-11-01`."""

    to: str
    """The last day; at most 30 days later."""


class MessagesBroadcastStatsQuery(t.TypedDict):
    broadcast_id: str
    """The broadcast."""

    workspace_id: NotRequired[str]
    """The workspace."""


class Messages:
    """Reads the outcomes of messages, and sends failed ones again."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[MessagesListQuery],
    ) -> types.ListMessagesResponse:
        """
        Lists messages, newest first, by pages.

        A page looks at 5,000 messages or a few more, so that it is as fast among millions: where
        few of these match, it is short or empty and still has a next one. Such searches are faster
        with `id`, `external_id`, `contact_email`, `contact_email_prefix`, `broadcast_id`,
        `notification_id` or `tag`. With `contact_email_prefix` they are in the order of addresses,
        and newest first for each.
        """
        answer: types.ListMessagesResponse = self._http.call(_LIST, request, options)
        return answer

    def list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[MessagesListQuery],
    ) -> t.Iterator[types.Message]:
        """The items of all pages of `list`, each page asked for as it is needed."""
        return self._http.pages(_LIST, request, options, "messages")

    def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[MessagesGetQuery],
    ) -> types.GetMessageResponse:
        """
        Reads a message, with its content if the workspace keeps contents (`message_content_days`).
        """
        answer: types.GetMessageResponse = self._http.call(_GET, request, options)
        return answer

    def why(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[MessagesWhyQuery],
    ) -> types.ExplainMessagesResponse:
        """
        Says in words why an address got mail or did not: by the record of messages, suppressions,
        consent, and what holds mail back now. About all mail, one broadcast, or one notification.
        """
        answer: types.ExplainMessagesResponse = self._http.call(_WHY, request, options)
        return answer

    def export(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[MessagesExportQuery],
    ) -> t.Iterator[types.Message]:
        """
        Exports all messages of a filter, in the order of `messages.list`: one line of JSON for
        each. The stream ends without an error only if it is complete. Messages that are created
        while it runs are left out, and those that change may be as before or after. A client that
        reads nothing for a minute is disconnected.

        gRPC callers get a page of up to 1,000 messages, and ask for the next one with its
        `next_cursor`.
        """
        return self._http.lines(_EXPORT, request, options)

    def retry(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RetryMessageRequest],
    ) -> types.RetryMessageResponse:
        """
        Puts a transactional message that failed back into the queue, under the same id: it is
        tried at once, and again for a day. One that bounced is sent again only if its notification
        says `send_to_bounced`.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.RetryMessageResponse = self._http.call(_RETRY, request, options)
        return answer

    def tag_stats(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[MessagesTagStatsQuery],
    ) -> types.ListTagStatsResponse:
        """
        Counts tagged messages by tag, and by the day (UTC) on which each was accepted or first
        claimed. A message with several tags counts for each. Messages that are no longer kept are
        not counted.
        """
        answer: types.ListTagStatsResponse = self._http.call(_TAG_STATS, request, options)
        return answer

    def broadcast_stats(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[MessagesBroadcastStatsQuery],
    ) -> types.GetBroadcastStatsResponse:
        """Counts the messages of a broadcast by outcome; zeros for an unknown broadcast."""
        answer: types.GetBroadcastStatsResponse = self._http.call(
            _BROADCAST_STATS, request, options
        )
        return answer


class AsyncMessages:
    """Reads the outcomes of messages, and sends failed ones again."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[MessagesListQuery],
    ) -> types.ListMessagesResponse:
        """
        Lists messages, newest first, by pages.

        A page looks at 5,000 messages or a few more, so that it is as fast among millions: where
        few of these match, it is short or empty and still has a next one. Such searches are faster
        with `id`, `external_id`, `contact_email`, `contact_email_prefix`, `broadcast_id`,
        `notification_id` or `tag`. With `contact_email_prefix` they are in the order of addresses,
        and newest first for each.
        """
        answer: types.ListMessagesResponse = await self._http.call(_LIST, request, options)
        return answer

    def list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[MessagesListQuery],
    ) -> t.AsyncIterator[types.Message]:
        """The items of all pages of `list`, each page asked for as it is needed."""
        return self._http.pages(_LIST, request, options, "messages")

    async def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[MessagesGetQuery],
    ) -> types.GetMessageResponse:
        """
        Reads a message, with its content if the workspace keeps contents (`message_content_days`).
        """
        answer: types.GetMessageResponse = await self._http.call(_GET, request, options)
        return answer

    async def why(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[MessagesWhyQuery],
    ) -> types.ExplainMessagesResponse:
        """
        Says in words why an address got mail or did not: by the record of messages, suppressions,
        consent, and what holds mail back now. About all mail, one broadcast, or one notification.
        """
        answer: types.ExplainMessagesResponse = await self._http.call(_WHY, request, options)
        return answer

    def export(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[MessagesExportQuery],
    ) -> t.AsyncIterator[types.Message]:
        """
        Exports all messages of a filter, in the order of `messages.list`: one line of JSON for
        each. The stream ends without an error only if it is complete. Messages that are created
        while it runs are left out, and those that change may be as before or after. A client that
        reads nothing for a minute is disconnected.

        gRPC callers get a page of up to 1,000 messages, and ask for the next one with its
        `next_cursor`.
        """
        return self._http.lines(_EXPORT, request, options)

    async def retry(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RetryMessageRequest],
    ) -> types.RetryMessageResponse:
        """
        Puts a transactional message that failed back into the queue, under the same id: it is
        tried at once, and again for a day. One that bounced is sent again only if its notification
        says `send_to_bounced`.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.RetryMessageResponse = await self._http.call(_RETRY, request, options)
        return answer

    async def tag_stats(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[MessagesTagStatsQuery],
    ) -> types.ListTagStatsResponse:
        """
        Counts tagged messages by tag, and by the day (UTC) on which each was accepted or first
        claimed. A message with several tags counts for each. Messages that are no longer kept are
        not counted.
        """
        answer: types.ListTagStatsResponse = await self._http.call(_TAG_STATS, request, options)
        return answer

    async def broadcast_stats(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[MessagesBroadcastStatsQuery],
    ) -> types.GetBroadcastStatsResponse:
        """Counts the messages of a broadcast by outcome; zeros for an unknown broadcast."""
        answer: types.GetBroadcastStatsResponse = await self._http.call(
            _BROADCAST_STATS, request, options
        )
        return answer
