# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_LIST = Operation("GET", "/api/templateBlocks.list")
_GET = Operation("GET", "/api/templateBlocks.get")
_CREATE = Operation("POST", "/api/templateBlocks.create", keyed=True)
_UPDATE = Operation("POST", "/api/templateBlocks.update")
_DELETE = Operation("POST", "/api/templateBlocks.delete")


class TemplateBlocksListQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    limit: NotRequired[int]
    """
    1 to 500; 500 if absent, which is all of them. A page may hold fewer, since it ends at 4 MiB of
    content.
    """

    cursor: NotRequired[str]
    """`next_cursor` of the page before; empty for the first."""


class TemplateBlocksGetQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """UUID of the block."""


class TemplateBlocks:
    """
    Keeps reusable blocks. A template holds copies of them, so a change of a block changes no
    template.
    """

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplateBlocksListQuery],
    ) -> types.ListTemplateBlocksResponse:
        """Lists blocks by name, by pages."""
        answer: types.ListTemplateBlocksResponse = self._http.call(_LIST, request, options)
        return answer

    def list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplateBlocksListQuery],
    ) -> t.Iterator[types.TemplateBlock]:
        """The items of all pages of `list`, each page asked for as it is needed."""
        return self._http.pages(_LIST, request, options, "blocks")

    def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplateBlocksGetQuery],
    ) -> types.GetTemplateBlockResponse:
        """Reads one block."""
        answer: types.GetTemplateBlockResponse = self._http.call(_GET, request, options)
        return answer

    def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateTemplateBlockRequest],
    ) -> types.CreateTemplateBlockResponse:
        """Creates a block."""
        answer: types.CreateTemplateBlockResponse = self._http.call(_CREATE, request, options)
        return answer

    def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateTemplateBlockRequest],
    ) -> types.UpdateTemplateBlockResponse:
        """Replaces a block and its name."""
        answer: types.UpdateTemplateBlockResponse = self._http.call(_UPDATE, request, options)
        return answer

    def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteTemplateBlockRequest],
    ) -> types.DeleteTemplateBlockResponse:
        """Deletes a block."""
        answer: types.DeleteTemplateBlockResponse = self._http.call(_DELETE, request, options)
        return answer


class AsyncTemplateBlocks:
    """
    Keeps reusable blocks. A template holds copies of them, so a change of a block changes no
    template.
    """

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplateBlocksListQuery],
    ) -> types.ListTemplateBlocksResponse:
        """Lists blocks by name, by pages."""
        answer: types.ListTemplateBlocksResponse = await self._http.call(_LIST, request, options)
        return answer

    def list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplateBlocksListQuery],
    ) -> t.AsyncIterator[types.TemplateBlock]:
        """The items of all pages of `list`, each page asked for as it is needed."""
        return self._http.pages(_LIST, request, options, "blocks")

    async def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplateBlocksGetQuery],
    ) -> types.GetTemplateBlockResponse:
        """Reads one block."""
        answer: types.GetTemplateBlockResponse = await self._http.call(_GET, request, options)
        return answer

    async def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateTemplateBlockRequest],
    ) -> types.CreateTemplateBlockResponse:
        """Creates a block."""
        answer: types.CreateTemplateBlockResponse = await self._http.call(_CREATE, request, options)
        return answer

    async def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateTemplateBlockRequest],
    ) -> types.UpdateTemplateBlockResponse:
        """Replaces a block and its name."""
        answer: types.UpdateTemplateBlockResponse = await self._http.call(_UPDATE, request, options)
        return answer

    async def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteTemplateBlockRequest],
    ) -> types.DeleteTemplateBlockResponse:
        """Deletes a block."""
        answer: types.DeleteTemplateBlockResponse = await self._http.call(_DELETE, request, options)
        return answer
