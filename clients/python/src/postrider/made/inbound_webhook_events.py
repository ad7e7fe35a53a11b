# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_LIST = Operation("GET", "/api/inboundWebhookEvents.list")


class InboundWebhookEventsListQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    cursor: NotRequired[str]
    """`next_cursor` of the page before; empty for the first."""

    limit: NotRequired[int]
    """1 to 100; 20 if absent."""

    event_type: NotRequired[str]
    """Only this type: `delivered`, `bounce` or `complaint`; all if empty."""

    recipient_email: NotRequired[str]
    """Only about this recipient, in any case; all if empty."""

    message_id: NotRequired[str]
    """Only about this message, by its UUID; all if empty."""

    timestamp_after: NotRequired[str]
    """Only those with this time or a later one."""

    timestamp_before: NotRequired[str]
    """Only those before this time."""


class InboundWebhookEvents:
    """
    Registers the address at which an integration's provider reports deliveries, bounces and
    complaints, and lists what came.

    A report changes a message only if it was sent through the integration, to the recipient that
    the report names. A report that comes twice, late or in another order changes nothing again. A
    bounce that says that the address is dead, and a complaint, suppress the address in the
    workspace; five soft bounces in a row, over a week or more, suppress it for 30 days. A
    recipient who left at the provider, or by a feedback report of type `opt-out`, is unsubscribed
    from the list of the mail, or from all mail where it was to segments alone; nothing that
    changed since is undone.
    """

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[InboundWebhookEventsListQuery],
    ) -> types.ListInboundReportsResponse:
        """
        Lists reports that came, newest first by their times. They are kept for 30 days, and
        deleted with their contact.
        """
        answer: types.ListInboundReportsResponse = self._http.call(_LIST, request, options)
        return answer

    def list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[InboundWebhookEventsListQuery],
    ) -> t.Iterator[types.InboundReport]:
        """The items of all pages of `list`, each page asked for as it is needed."""
        return self._http.pages(_LIST, request, options, "events")


class AsyncInboundWebhookEvents:
    """
    Registers the address at which an integration's provider reports deliveries, bounces and
    complaints, and lists what came.

    A report changes a message only if it was sent through the integration, to the recipient that
    the report names. A report that comes twice, late or in another order changes nothing again. A
    bounce that says that the address is dead, and a complaint, suppress the address in the
    workspace; five soft bounces in a row, over a week or more, suppress it for 30 days. A
    recipient who left at the provider, or by a feedback report of type `opt-out`, is unsubscribed
    from the list of the mail, or from all mail where it was to segments alone; nothing that
    changed since is undone.
    """

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[InboundWebhookEventsListQuery],
    ) -> types.ListInboundReportsResponse:
        """
        Lists reports that came, newest first by their times. They are kept for 30 days, and
        deleted with their contact.
        """
        answer: types.ListInboundReportsResponse = await self._http.call(_LIST, request, options)
        return answer

    def list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[InboundWebhookEventsListQuery],
    ) -> t.AsyncIterator[types.InboundReport]:
        """The items of all pages of `list`, each page asked for as it is needed."""
        return self._http.pages(_LIST, request, options, "events")
