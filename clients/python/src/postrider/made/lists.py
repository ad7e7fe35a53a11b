# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_LIST = Operation("GET", "/api/lists.list")
_GET = Operation("GET", "/api/lists.get")
_CREATE = Operation("POST", "/api/lists.create", keyed=True)
_UPDATE = Operation("POST", "/api/lists.update")
_DELETE = Operation("POST", "/api/lists.delete")
_STATS = Operation("GET", "/api/lists.stats")
_SUBSCRIBE = Operation("POST", "/api/lists.subscribe")
_EXPORT = Operation("GET", "/api/lists.export")


class ListsListQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    limit: NotRequired[int]
    """The newest of them: 1 to 1,000; all if absent."""


class ListsGetQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The list."""


class ListsStatsQuery(t.TypedDict):
    list_id: str
    """The list."""

    workspace_id: NotRequired[str]
    """The workspace."""


class ListsExportQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    list_id: str
    """The list."""

    status: NotRequired[types.MembershipStatus]
    """Only members with this status."""


class Lists:
    """Keeps lists."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ListsListQuery],
    ) -> types.ListListsResponse:
        """Lists all lists, newest first. At most 1,000."""
        answer: types.ListListsResponse = self._http.call(_LIST, request, options)
        return answer

    def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ListsGetQuery],
    ) -> types.GetListResponse:
        """Reads one list."""
        answer: types.GetListResponse = self._http.call(_GET, request, options)
        return answer

    def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateListRequest],
    ) -> types.CreateListResponse:
        """
        Creates a list. Its template and the notification of its welcome cannot be deleted while
        the list uses them.
        """
        answer: types.CreateListResponse = self._http.call(_CREATE, request, options)
        return answer

    def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateListRequest],
    ) -> types.UpdateListResponse:
        """
        Replaces a list's name, flags, description, template and welcome. Without a welcome, those
        that still wait are not sent.
        """
        answer: types.UpdateListResponse = self._http.call(_UPDATE, request, options)
        return answer

    def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteListRequest],
    ) -> types.DeleteListResponse:
        """Deletes a list and ends its memberships. Its id cannot be used again."""
        answer: types.DeleteListResponse = self._http.call(_DELETE, request, options)
        return answer

    def stats(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ListsStatsQuery],
    ) -> types.GetListStatsResponse:
        """Counts the members of a list by status."""
        answer: types.GetListStatsResponse = self._http.call(_STATS, request, options)
        return answer

    def subscribe(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SubscribeContactRequest],
    ) -> types.SubscribeContactResponse:
        """
        Creates or updates a contact and makes it an active member of lists at once, public or
        private, whatever its status was before. Null fields keep their value. Suppressed addresses
        stay suppressed.
        """
        answer: types.SubscribeContactResponse = self._http.call(_SUBSCRIBE, request, options)
        return answer

    def export(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ListsExportQuery],
    ) -> t.Iterator[types.ExportedMember]:
        """
        Exports the members of a list by address, with all fields of their contacts: a line of JSON
        for each, or a CSV file. Removed members are left out. Needs read access to `lists` as
        well. The stream ends without an error only if it is complete: one that is cut has no last
        chunk. In CSV times are RFC 3339, objects JSON, and texts that a spreadsheet would run
        begin with an apostrophe, which `contacts.import` takes off. Contacts that change while it
        runs may be as before or after. A client that reads nothing for a minute is disconnected.

        gRPC callers get a page, and ask for the next one with its `next_cursor`; `format` makes no
        difference to them.
        """
        return self._http.lines(_EXPORT, request, options)

    def export_csv(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ListsExportQuery],
    ) -> t.Iterator[bytes]:
        """The bytes of `export` as a CSV file."""
        return self._http.stream(_EXPORT, {**request, "format": "csv"}, options)


class AsyncLists:
    """Keeps lists."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ListsListQuery],
    ) -> types.ListListsResponse:
        """Lists all lists, newest first. At most 1,000."""
        answer: types.ListListsResponse = await self._http.call(_LIST, request, options)
        return answer

    async def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ListsGetQuery],
    ) -> types.GetListResponse:
        """Reads one list."""
        answer: types.GetListResponse = await self._http.call(_GET, request, options)
        return answer

    async def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateListRequest],
    ) -> types.CreateListResponse:
        """
        Creates a list. Its template and the notification of its welcome cannot be deleted while
        the list uses them.
        """
        answer: types.CreateListResponse = await self._http.call(_CREATE, request, options)
        return answer

    async def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateListRequest],
    ) -> types.UpdateListResponse:
        """
        Replaces a list's name, flags, description, template and welcome. Without a welcome, those
        that still wait are not sent.
        """
        answer: types.UpdateListResponse = await self._http.call(_UPDATE, request, options)
        return answer

    async def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteListRequest],
    ) -> types.DeleteListResponse:
        """Deletes a list and ends its memberships. Its id cannot be used again."""
        answer: types.DeleteListResponse = await self._http.call(_DELETE, request, options)
        return answer

    async def stats(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ListsStatsQuery],
    ) -> types.GetListStatsResponse:
        """Counts the members of a list by status."""
        answer: types.GetListStatsResponse = await self._http.call(_STATS, request, options)
        return answer

    async def subscribe(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SubscribeContactRequest],
    ) -> types.SubscribeContactResponse:
        """
        Creates or updates a contact and makes it an active member of lists at once, public or
        private, whatever its status was before. Null fields keep their value. Suppressed addresses
        stay suppressed.
        """
        answer: types.SubscribeContactResponse = await self._http.call(_SUBSCRIBE, request, options)
        return answer

    def export(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ListsExportQuery],
    ) -> t.AsyncIterator[types.ExportedMember]:
        """
        Exports the members of a list by address, with all fields of their contacts: a line of JSON
        for each, or a CSV file. Removed members are left out. Needs read access to `lists` as
        well. The stream ends without an error only if it is complete: one that is cut has no last
        chunk. In CSV times are RFC 3339, objects JSON, and texts that a spreadsheet would run
        begin with an apostrophe, which `contacts.import` takes off. Contacts that change while it
        runs may be as before or after. A client that reads nothing for a minute is disconnected.

        gRPC callers get a page, and ask for the next one with its `next_cursor`; `format` makes no
        difference to them.
        """
        return self._http.lines(_EXPORT, request, options)

    def export_csv(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ListsExportQuery],
    ) -> t.AsyncIterator[bytes]:
        """The bytes of `export` as a CSV file."""
        return self._http.stream(_EXPORT, {**request, "format": "csv"}, options)
