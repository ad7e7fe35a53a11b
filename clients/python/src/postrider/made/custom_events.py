# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_UPSERT = Operation("POST", "/api/customEvents.upsert")
_IMPORT = Operation("POST", "/api/customEvents.import")
_GET = Operation("GET", "/api/customEvents.get")
_LIST = Operation("GET", "/api/customEvents.list")


class CustomEventsGetQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    event_name: str
    """Its name."""

    external_id: str
    """Its external id."""


class CustomEventsListQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    email: NotRequired[str]
    """Only events of this contact."""

    event_name: NotRequired[str]
    """Only events of this name."""

    limit: NotRequired[int]
    """1 to 1,000; 50 if absent. A page may hold fewer, since it ends at 4 MiB."""

    offset: NotRequired[int]
    """How many to leave out: 0 to 10,000. `cursor` is faster, and has no end."""

    cursor: NotRequired[str]
    """`next_cursor` of the page before; empty for the first."""


class CustomEvents:
    """Keeps custom events, identified by name and external id within a workspace."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def upsert(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpsertCustomEventRequest],
    ) -> types.UpsertCustomEventResponse:
        """
        Creates an event, or changes it if it happened later than the one that is known. An older
        or equally old one changes nothing, unless it is deleted or restored by it. Creates the
        contact if there is none, except for a deleted event.
        """
        answer: types.UpsertCustomEventResponse = self._http.call(_UPSERT, request, options)
        return answer

    def import_(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ImportCustomEventsRequest],
    ) -> types.ImportCustomEventsResponse:
        """
        Creates or changes up to 1,000 events, each as `customEvents.upsert` does, with one answer
        per row in the order of the request. Valid rows are written even if others are not. Of rows
        with the same name and external id the one that happened last wins, and keeps the goal of
        those before it where it has none.
        """
        answer: types.ImportCustomEventsResponse = self._http.call(_IMPORT, request, options)
        return answer

    def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[CustomEventsGetQuery],
    ) -> types.GetCustomEventResponse:
        """Reads one event."""
        answer: types.GetCustomEventResponse = self._http.call(_GET, request, options)
        return answer

    def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[CustomEventsListQuery],
    ) -> types.ListCustomEventsResponse:
        """
        Lists the events of a contact, of a name, or both, the latest first, by pages. Deleted ones
        are left out.
        """
        answer: types.ListCustomEventsResponse = self._http.call(_LIST, request, options)
        return answer

    def list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[CustomEventsListQuery],
    ) -> t.Iterator[types.CustomEvent]:
        """The items of all pages of `list`, each page asked for as it is needed."""
        return self._http.pages(_LIST, request, options, "events")


class AsyncCustomEvents:
    """Keeps custom events, identified by name and external id within a workspace."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def upsert(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpsertCustomEventRequest],
    ) -> types.UpsertCustomEventResponse:
        """
        Creates an event, or changes it if it happened later than the one that is known. An older
        or equally old one changes nothing, unless it is deleted or restored by it. Creates the
        contact if there is none, except for a deleted event.
        """
        answer: types.UpsertCustomEventResponse = await self._http.call(_UPSERT, request, options)
        return answer

    async def import_(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ImportCustomEventsRequest],
    ) -> types.ImportCustomEventsResponse:
        """
        Creates or changes up to 1,000 events, each as `customEvents.upsert` does, with one answer
        per row in the order of the request. Valid rows are written even if others are not. Of rows
        with the same name and external id the one that happened last wins, and keeps the goal of
        those before it where it has none.
        """
        answer: types.ImportCustomEventsResponse = await self._http.call(_IMPORT, request, options)
        return answer

    async def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[CustomEventsGetQuery],
    ) -> types.GetCustomEventResponse:
        """Reads one event."""
        answer: types.GetCustomEventResponse = await self._http.call(_GET, request, options)
        return answer

    async def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[CustomEventsListQuery],
    ) -> types.ListCustomEventsResponse:
        """
        Lists the events of a contact, of a name, or both, the latest first, by pages. Deleted ones
        are left out.
        """
        answer: types.ListCustomEventsResponse = await self._http.call(_LIST, request, options)
        return answer

    def list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[CustomEventsListQuery],
    ) -> t.AsyncIterator[types.CustomEvent]:
        """The items of all pages of `list`, each page asked for as it is needed."""
        return self._http.pages(_LIST, request, options, "events")
