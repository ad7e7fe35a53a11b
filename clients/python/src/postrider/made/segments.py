# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_LIST = Operation("GET", "/api/segments.list")
_GET = Operation("GET", "/api/segments.get")
_CREATE = Operation("POST", "/api/segments.create", keyed=True)
_UPDATE = Operation("POST", "/api/segments.update")
_DELETE = Operation("POST", "/api/segments.delete")
_REBUILD = Operation("POST", "/api/segments.rebuild")
_PREVIEW = Operation("POST", "/api/segments.preview")
_CONTACTS = Operation("GET", "/api/segments.contacts")
_EXPORT = Operation("GET", "/api/segments.export")


class SegmentsListQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    with_count: NotRequired[bool]
    """Whether `users_count` is filled."""

    limit: NotRequired[int]
    """The newest of them: 1 to 1,000; all if absent."""


class SegmentsGetQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The segment."""


class SegmentsContactsQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    segment_id: str
    """The segment."""

    limit: NotRequired[int]
    """1 to 1,000; 50 if absent."""

    cursor: NotRequired[str]
    """`next_cursor` of the page before; empty for the first."""

    expand: NotRequired[t.Literal["contact"]]
    """
    `contact` gives the contacts with their fields as well, in pages that may be shorter than
    `limit`.
    """


class SegmentsExportQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    segment_id: str
    """The segment."""


class Segments:
    """
    Keeps segments and who is in them. A change of a contact, list, custom event or message moves
    the contact in and out within seconds; conditions on relative dates are computed again every
    day at 05:00 of the segment's zone.
    """

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[SegmentsListQuery],
    ) -> types.ListSegmentsResponse:
        """Lists all segments, newest first."""
        answer: types.ListSegmentsResponse = self._http.call(_LIST, request, options)
        return answer

    def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[SegmentsGetQuery],
    ) -> types.GetSegmentResponse:
        """Reads one segment and how many contacts it has."""
        answer: types.GetSegmentResponse = self._http.call(_GET, request, options)
        return answer

    def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateSegmentRequest],
    ) -> types.CreateSegmentResponse:
        """Creates a segment and begins to build it. Its tree is tried out first."""
        answer: types.CreateSegmentResponse = self._http.call(_CREATE, request, options)
        return answer

    def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateSegmentRequest],
    ) -> types.UpdateSegmentResponse:
        """
        Replaces name, color, tree and zone. Another tree or zone is a new version, which is built
        anew; until then contacts that were in stay in.
        """
        answer: types.UpdateSegmentResponse = self._http.call(_UPDATE, request, options)
        return answer

    def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteSegmentRequest],
    ) -> types.DeleteSegmentResponse:
        """
        Deletes a segment. Its contacts leave it in the background; the id is free again after
        that.
        """
        answer: types.DeleteSegmentResponse = self._http.call(_DELETE, request, options)
        return answer

    def rebuild(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RebuildSegmentRequest],
    ) -> types.RebuildSegmentResponse:
        """Begins to build a segment again from all contacts; a build that runs starts over."""
        answer: types.RebuildSegmentResponse = self._http.call(_REBUILD, request, options)
        return answer

    def preview(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.PreviewSegmentRequest],
    ) -> types.PreviewSegmentResponse:
        """Says who would be in a segment with this tree, without making one."""
        answer: types.PreviewSegmentResponse = self._http.call(_PREVIEW, request, options)
        return answer

    def contacts(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[SegmentsContactsQuery],
    ) -> types.ListSegmentContactsResponse:
        """Lists the contacts of a segment by address, by pages."""
        answer: types.ListSegmentContactsResponse = self._http.call(_CONTACTS, request, options)
        return answer

    def export(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[SegmentsExportQuery],
    ) -> t.Iterator[types.ExportedSegmentMember]:
        """
        Exports the contacts of a segment by address, as they are computed, with all their fields:
        a line of JSON for each, or a CSV file. The stream ends without an error only if it is
        complete: one that is cut has no last chunk. In CSV times are RFC 3339, objects JSON, and
        texts that a spreadsheet would run begin with an apostrophe, which `contacts.import` takes
        off. Contacts that change while it runs may be as before or after. A client that reads
        nothing for a minute is disconnected.

        gRPC callers get a page, and ask for the next one with its `next_cursor`; `format` makes no
        difference to them.
        """
        return self._http.lines(_EXPORT, request, options)

    def export_csv(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[SegmentsExportQuery],
    ) -> t.Iterator[bytes]:
        """The bytes of `export` as a CSV file."""
        return self._http.stream(_EXPORT, {**request, "format": "csv"}, options)


class AsyncSegments:
    """
    Keeps segments and who is in them. A change of a contact, list, custom event or message moves
    the contact in and out within seconds; conditions on relative dates are computed again every
    day at 05:00 of the segment's zone.
    """

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[SegmentsListQuery],
    ) -> types.ListSegmentsResponse:
        """Lists all segments, newest first."""
        answer: types.ListSegmentsResponse = await self._http.call(_LIST, request, options)
        return answer

    async def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[SegmentsGetQuery],
    ) -> types.GetSegmentResponse:
        """Reads one segment and how many contacts it has."""
        answer: types.GetSegmentResponse = await self._http.call(_GET, request, options)
        return answer

    async def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateSegmentRequest],
    ) -> types.CreateSegmentResponse:
        """Creates a segment and begins to build it. Its tree is tried out first."""
        answer: types.CreateSegmentResponse = await self._http.call(_CREATE, request, options)
        return answer

    async def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateSegmentRequest],
    ) -> types.UpdateSegmentResponse:
        """
        Replaces name, color, tree and zone. Another tree or zone is a new version, which is built
        anew; until then contacts that were in stay in.
        """
        answer: types.UpdateSegmentResponse = await self._http.call(_UPDATE, request, options)
        return answer

    async def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteSegmentRequest],
    ) -> types.DeleteSegmentResponse:
        """
        Deletes a segment. Its contacts leave it in the background; the id is free again after
        that.
        """
        answer: types.DeleteSegmentResponse = await self._http.call(_DELETE, request, options)
        return answer

    async def rebuild(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RebuildSegmentRequest],
    ) -> types.RebuildSegmentResponse:
        """Begins to build a segment again from all contacts; a build that runs starts over."""
        answer: types.RebuildSegmentResponse = await self._http.call(_REBUILD, request, options)
        return answer

    async def preview(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.PreviewSegmentRequest],
    ) -> types.PreviewSegmentResponse:
        """Says who would be in a segment with this tree, without making one."""
        answer: types.PreviewSegmentResponse = await self._http.call(_PREVIEW, request, options)
        return answer

    async def contacts(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[SegmentsContactsQuery],
    ) -> types.ListSegmentContactsResponse:
        """Lists the contacts of a segment by address, by pages."""
        answer: types.ListSegmentContactsResponse = await self._http.call(
            _CONTACTS, request, options
        )
        return answer

    def export(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[SegmentsExportQuery],
    ) -> t.AsyncIterator[types.ExportedSegmentMember]:
        """
        Exports the contacts of a segment by address, as they are computed, with all their fields:
        a line of JSON for each, or a CSV file. The stream ends without an error only if it is
        complete: one that is cut has no last chunk. In CSV times are RFC 3339, objects JSON, and
        texts that a spreadsheet would run begin with an apostrophe, which `contacts.import` takes
        off. Contacts that change while it runs may be as before or after. A client that reads
        nothing for a minute is disconnected.

        gRPC callers get a page, and ask for the next one with its `next_cursor`; `format` makes no
        difference to them.
        """
        return self._http.lines(_EXPORT, request, options)

    def export_csv(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[SegmentsExportQuery],
    ) -> t.AsyncIterator[bytes]:
        """The bytes of `export` as a CSV file."""
        return self._http.stream(_EXPORT, {**request, "format": "csv"}, options)
