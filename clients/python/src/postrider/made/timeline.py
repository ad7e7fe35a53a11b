# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_LIST = Operation("GET", "/api/timeline.list")


class TimelineListQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    email: str
    """The contact."""

    kinds: NotRequired[t.List[str]]
    """
    Only these kinds, at most 50; a kind that ends with `.*` stands for all that begin so. All if
    empty.
    """

    since: NotRequired[str]
    """Only what happened at this time or later."""

    until: NotRequired[str]
    """Only what happened before this time."""

    limit: NotRequired[int]
    """1 to 100; 50 if absent. A page may hold fewer, since it ends at 4 MiB."""

    cursor: NotRequired[str]
    """`next_cursor` of the page before; empty for the first."""


class Timeline:
    """
    Tells what happened to a contact: its changes, lists, segments, custom events and messages.
    Entries are kept for as long as the workspace's `timeline_retention_days` say, and erased with
    the contact.
    """

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TimelineListQuery],
    ) -> types.ListTimelineResponse:
        """
        Lists what happened to a contact, newest first, by pages. Empty for an address that is no
        contact's.
        """
        answer: types.ListTimelineResponse = self._http.call(_LIST, request, options)
        return answer

    def list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TimelineListQuery],
    ) -> t.Iterator[types.TimelineEntry]:
        """The items of all pages of `list`, each page asked for as it is needed."""
        return self._http.pages(_LIST, request, options, "timeline")


class AsyncTimeline:
    """
    Tells what happened to a contact: its changes, lists, segments, custom events and messages.
    Entries are kept for as long as the workspace's `timeline_retention_days` say, and erased with
    the contact.
    """

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TimelineListQuery],
    ) -> types.ListTimelineResponse:
        """
        Lists what happened to a contact, newest first, by pages. Empty for an address that is no
        contact's.
        """
        answer: types.ListTimelineResponse = await self._http.call(_LIST, request, options)
        return answer

    def list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TimelineListQuery],
    ) -> t.AsyncIterator[types.TimelineEntry]:
        """The items of all pages of `list`, each page asked for as it is needed."""
        return self._http.pages(_LIST, request, options, "timeline")
