# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_LIST = Operation("GET", "/api/templates.list")
_GET = Operation("GET", "/api/templates.get")
_CREATE = Operation("POST", "/api/templates.create", keyed=True)
_UPDATE = Operation("POST", "/api/templates.update", keyed=True)
_DELETE = Operation("POST", "/api/templates.delete")
_LIST_VERSIONS = Operation("GET", "/api/templates.listVersions")
_COMPARE_VERSIONS = Operation("GET", "/api/templates.compareVersions")
_RESTORE_VERSION = Operation("POST", "/api/templates.restoreVersion", keyed=True)
_COMPILE = Operation("POST", "/api/templates.compile")


class TemplatesListQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    category: NotRequired[types.TemplateCategory]
    """Only this category."""

    channel: NotRequired[types.TemplateChannel]
    """Only this channel."""

    limit: NotRequired[int]
    """
    1 to 1,000; 1,000 if absent, which is all of them. A page may hold fewer, since it ends at 4
    MiB of content.
    """

    cursor: NotRequired[str]
    """`next_cursor` of the page before; empty for the first."""


class TemplatesGetQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The template."""

    version: NotRequired[int]
    """The newest version if zero."""


class TemplatesListVersionsQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The template."""

    limit: NotRequired[int]
    """1 to 1,000; 20 if absent."""

    cursor: NotRequired[str]
    """`next_cursor` of the page before; empty for the first."""


class TemplatesCompareVersionsQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The template."""

    from_: int
    """The version before; usually the older one."""

    to: int
    """The version after."""


class Templates:
    """
    Keeps templates. Every change makes a new version; sent mail keeps the version it was pinned
    to.
    """

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplatesListQuery],
    ) -> types.ListTemplatesResponse:
        """Lists the newest version of every template, last changed first, by pages."""
        answer: types.ListTemplatesResponse = self._http.call(_LIST, request, options)
        return answer

    def list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplatesListQuery],
    ) -> t.Iterator[types.Template]:
        """The items of all pages of `list`, each page asked for as it is needed."""
        return self._http.pages(_LIST, request, options, "templates")

    def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplatesGetQuery],
    ) -> types.GetTemplateResponse:
        """Reads one version of a template."""
        answer: types.GetTemplateResponse = self._http.call(_GET, request, options)
        return answer

    def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateTemplateRequest],
    ) -> types.CreateTemplateResponse:
        """
        Creates version 1 of a template; if its id is that of a deleted one, the version after
        those of the deleted one. Its MJML and Liquid must compile.
        """
        answer: types.CreateTemplateResponse = self._http.call(_CREATE, request, options)
        return answer

    def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateTemplateRequest],
    ) -> types.UpdateTemplateResponse:
        """
        Replaces a template's content by a new version. Fields that are left out become empty. Mail
        that was pinned to an earlier version keeps it. The channel and, for email, the editor mode
        stay as they are.
        """
        answer: types.UpdateTemplateResponse = self._http.call(_UPDATE, request, options)
        return answer

    def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteTemplateRequest],
    ) -> types.DeleteTemplateResponse:
        """
        Deletes a template with all its versions, and frees its id. Broadcasts that are being sent
        keep their version.
        """
        answer: types.DeleteTemplateResponse = self._http.call(_DELETE, request, options)
        return answer

    def list_versions(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplatesListVersionsQuery],
    ) -> types.ListTemplateVersionsResponse:
        """Lists the versions of a template without their content, newest first, by pages."""
        answer: types.ListTemplateVersionsResponse = self._http.call(
            _LIST_VERSIONS, request, options
        )
        return answer

    def list_versions_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplatesListVersionsQuery],
    ) -> t.Iterator[types.TemplateVersion]:
        """The items of all pages of `list_versions`, each page asked for as it is needed."""
        return self._http.pages(_LIST_VERSIONS, request, options, "versions")

    def compare_versions(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplatesCompareVersionsQuery],
    ) -> types.CompareTemplateVersionsResponse:
        """Compares two versions of a template field by field."""
        answer: types.CompareTemplateVersionsResponse = self._http.call(
            _COMPARE_VERSIONS, request, options
        )
        return answer

    def restore_version(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RestoreTemplateVersionRequest],
    ) -> types.RestoreTemplateVersionResponse:
        """Makes a new version with the content of an earlier one, which is compiled again."""
        answer: types.RestoreTemplateVersionResponse = self._http.call(
            _RESTORE_VERSION, request, options
        )
        return answer

    def compile(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CompileTemplateRequest],
    ) -> types.CompileTemplateResponse:
        """
        Compiles content without storing it, for previews. Mistakes in the content are reported in
        a successful answer (`success` false), and what a recipient may dislike as `warnings`.
        `/docs/preview` shows the mail, and `/docs/liquid` lists the variables, filters and tags.
        """
        answer: types.CompileTemplateResponse = self._http.call(_COMPILE, request, options)
        return answer


class AsyncTemplates:
    """
    Keeps templates. Every change makes a new version; sent mail keeps the version it was pinned
    to.
    """

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplatesListQuery],
    ) -> types.ListTemplatesResponse:
        """Lists the newest version of every template, last changed first, by pages."""
        answer: types.ListTemplatesResponse = await self._http.call(_LIST, request, options)
        return answer

    def list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplatesListQuery],
    ) -> t.AsyncIterator[types.Template]:
        """The items of all pages of `list`, each page asked for as it is needed."""
        return self._http.pages(_LIST, request, options, "templates")

    async def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplatesGetQuery],
    ) -> types.GetTemplateResponse:
        """Reads one version of a template."""
        answer: types.GetTemplateResponse = await self._http.call(_GET, request, options)
        return answer

    async def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateTemplateRequest],
    ) -> types.CreateTemplateResponse:
        """
        Creates version 1 of a template; if its id is that of a deleted one, the version after
        those of the deleted one. Its MJML and Liquid must compile.
        """
        answer: types.CreateTemplateResponse = await self._http.call(_CREATE, request, options)
        return answer

    async def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateTemplateRequest],
    ) -> types.UpdateTemplateResponse:
        """
        Replaces a template's content by a new version. Fields that are left out become empty. Mail
        that was pinned to an earlier version keeps it. The channel and, for email, the editor mode
        stay as they are.
        """
        answer: types.UpdateTemplateResponse = await self._http.call(_UPDATE, request, options)
        return answer

    async def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteTemplateRequest],
    ) -> types.DeleteTemplateResponse:
        """
        Deletes a template with all its versions, and frees its id. Broadcasts that are being sent
        keep their version.
        """
        answer: types.DeleteTemplateResponse = await self._http.call(_DELETE, request, options)
        return answer

    async def list_versions(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplatesListVersionsQuery],
    ) -> types.ListTemplateVersionsResponse:
        """Lists the versions of a template without their content, newest first, by pages."""
        answer: types.ListTemplateVersionsResponse = await self._http.call(
            _LIST_VERSIONS, request, options
        )
        return answer

    def list_versions_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplatesListVersionsQuery],
    ) -> t.AsyncIterator[types.TemplateVersion]:
        """The items of all pages of `list_versions`, each page asked for as it is needed."""
        return self._http.pages(_LIST_VERSIONS, request, options, "versions")

    async def compare_versions(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TemplatesCompareVersionsQuery],
    ) -> types.CompareTemplateVersionsResponse:
        """Compares two versions of a template field by field."""
        answer: types.CompareTemplateVersionsResponse = await self._http.call(
            _COMPARE_VERSIONS, request, options
        )
        return answer

    async def restore_version(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RestoreTemplateVersionRequest],
    ) -> types.RestoreTemplateVersionResponse:
        """Makes a new version with the content of an earlier one, which is compiled again."""
        answer: types.RestoreTemplateVersionResponse = await self._http.call(
            _RESTORE_VERSION, request, options
        )
        return answer

    async def compile(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CompileTemplateRequest],
    ) -> types.CompileTemplateResponse:
        """
        Compiles content without storing it, for previews. Mistakes in the content are reported in
        a successful answer (`success` false), and what a recipient may dislike as `warnings`.
        `/docs/preview` shows the mail, and `/docs/liquid` lists the variables, filters and tags.
        """
        answer: types.CompileTemplateResponse = await self._http.call(_COMPILE, request, options)
        return answer
