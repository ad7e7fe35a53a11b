# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import Unpack
from . import types

_IMPORT = Operation("POST", "/api/bounces.import")


class Bounces:
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

    def import_(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ImportBouncesRequest],
    ) -> types.ImportBouncesResponse:
        """
        Takes bounces and complaints from elsewhere, up to 10,000, such as those that another
        provider has on record; one answer per row. A row with a `message_id` is applied to that
        message as a report about it is. One without suppresses its address where its class says
        that it is dead (`hard`) or that the person complained (`complaint`), and changes no
        membership. Rows that are wrong change nothing.
        """
        answer: types.ImportBouncesResponse = self._http.call(_IMPORT, request, options)
        return answer


class AsyncBounces:
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

    async def import_(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ImportBouncesRequest],
    ) -> types.ImportBouncesResponse:
        """
        Takes bounces and complaints from elsewhere, up to 10,000, such as those that another
        provider has on record; one answer per row. A row with a `message_id` is applied to that
        message as a report about it is. One without suppresses its address where its class says
        that it is dead (`hard`) or that the person complained (`complaint`), and changes no
        membership. Rows that are wrong change nothing.
        """
        answer: types.ImportBouncesResponse = await self._http.call(_IMPORT, request, options)
        return answer
