# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_LIST = Operation("GET", "/api/suppressions.list")
_ADD = Operation("POST", "/api/suppressions.add")
_IMPORT = Operation("POST", "/api/suppressions.import")
_REMOVE = Operation("POST", "/api/suppressions.remove")


class SuppressionsListQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    reason: NotRequired[str]
    """Only with this reason: `bounced`, `complained` or `opted_out`; all if empty."""

    email_prefix: NotRequired[str]
    """Only addresses that begin so, in any case; at most 254 characters."""

    limit: NotRequired[int]
    """1 to 1,000; 50 if absent."""

    cursor: NotRequired[str]
    """`next_cursor` of the page before; empty for the first."""


class Suppressions:
    """
    Keeps the suppression list of a workspace. An address on it gets no broadcast, no message by
    hand and no confirmation mail, which is looked up when a message is about to be sent.
    Transactional mail goes to it unless it bounced, and the answer names it; to one that bounced
    it goes only if the notification says `send_to_bounced`. Bounces put addresses on the list by
    themselves.
    """

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[SuppressionsListQuery],
    ) -> types.ListSuppressionsResponse:
        """Lists suppressed addresses, in the order of addresses, by pages."""
        answer: types.ListSuppressionsResponse = self._http.call(_LIST, request, options)
        return answer

    def list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[SuppressionsListQuery],
    ) -> t.Iterator[types.Suppression]:
        """The items of all pages of `list`, each page asked for as it is needed."""
        return self._http.pages(_LIST, request, options, "suppressions")

    def add(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.AddSuppressionRequest],
    ) -> types.AddSuppressionResponse:
        """
        Suppresses an address. It need not belong to a contact. An address that is suppressed
        already keeps its entry, unless the new reason is stronger: `bounced` before `complained`
        before `opted_out`.
        """
        answer: types.AddSuppressionResponse = self._http.call(_ADD, request, options)
        return answer

    def import_(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ImportSuppressionsRequest],
    ) -> types.ImportSuppressionsResponse:
        """
        Suppresses up to 10,000 addresses, as `suppressions.add` does, with one answer per row.
        Rows that are wrong change nothing and hold up no others; of rows with the same address
        each counts, the strongest reason wins.
        """
        answer: types.ImportSuppressionsResponse = self._http.call(_IMPORT, request, options)
        return answer

    def remove(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RemoveSuppressionRequest],
    ) -> types.RemoveSuppressionResponse:
        """
        Takes an address off the list: mail to it is sent again at once. Reports of bounces and
        complaints from before, which come later, do not put it back, for 90 days. Its memberships
        of lists stay as they are: one that has bounced or complained is made active with
        `contactLists.updateStatus`. The reason is kept in the audit log, the address is not.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.RemoveSuppressionResponse = self._http.call(_REMOVE, request, options)
        return answer


class AsyncSuppressions:
    """
    Keeps the suppression list of a workspace. An address on it gets no broadcast, no message by
    hand and no confirmation mail, which is looked up when a message is about to be sent.
    Transactional mail goes to it unless it bounced, and the answer names it; to one that bounced
    it goes only if the notification says `send_to_bounced`. Bounces put addresses on the list by
    themselves.
    """

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[SuppressionsListQuery],
    ) -> types.ListSuppressionsResponse:
        """Lists suppressed addresses, in the order of addresses, by pages."""
        answer: types.ListSuppressionsResponse = await self._http.call(_LIST, request, options)
        return answer

    def list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[SuppressionsListQuery],
    ) -> t.AsyncIterator[types.Suppression]:
        """The items of all pages of `list`, each page asked for as it is needed."""
        return self._http.pages(_LIST, request, options, "suppressions")

    async def add(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.AddSuppressionRequest],
    ) -> types.AddSuppressionResponse:
        """
        Suppresses an address. It need not belong to a contact. An address that is suppressed
        already keeps its entry, unless the new reason is stronger: `bounced` before `complained`
        before `opted_out`.
        """
        answer: types.AddSuppressionResponse = await self._http.call(_ADD, request, options)
        return answer

    async def import_(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ImportSuppressionsRequest],
    ) -> types.ImportSuppressionsResponse:
        """
        Suppresses up to 10,000 addresses, as `suppressions.add` does, with one answer per row.
        Rows that are wrong change nothing and hold up no others; of rows with the same address
        each counts, the strongest reason wins.
        """
        answer: types.ImportSuppressionsResponse = await self._http.call(_IMPORT, request, options)
        return answer

    async def remove(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RemoveSuppressionRequest],
    ) -> types.RemoveSuppressionResponse:
        """
        Takes an address off the list: mail to it is sent again at once. Reports of bounces and
        complaints from before, which come later, do not put it back, for 90 days. Its memberships
        of lists stay as they are: one that has bounced or complained is made active with
        `contactLists.updateStatus`. The reason is kept in the audit log, the address is not.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.RemoveSuppressionResponse = await self._http.call(_REMOVE, request, options)
        return answer
