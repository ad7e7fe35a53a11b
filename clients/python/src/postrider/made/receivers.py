# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_PAUSE = Operation("POST", "/api/receivers.pause")
_RESUME = Operation("POST", "/api/receivers.resume")
_LIST_PAUSED = Operation("GET", "/api/receivers.listPaused")


class ReceiversListPausedQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    integration_id: str
    """The integration."""


class Receivers:
    """
    Pauses mail to groups of receivers of an integration that delivers directly (`direct` of its
    SMTP settings). A group is named as the page of a broadcast and `status_info` of messages that
    wait name it: `google`, or a domain.
    """

    def __init__(self, http: Http) -> None:
        self._http = http

    def pause(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.PauseReceiverRequest],
    ) -> types.PauseReceiverResponse:
        """
        Pauses a group for some time. Within two seconds no more mail to it is begun; it waits as
        deferred mail, other groups go on, and no attempt is counted. Mail that is under way
        arrives. A group that is paused already gets the new end. Mail to a domain for which DNS
        has not answered yet counts for the domain itself, and goes out unless the domain is
        paused. Mail to a domain whose mail hosts are of another group counts for that group alone:
        a pause of the domain does not stop it.
        """
        answer: types.PauseReceiverResponse = self._http.call(_PAUSE, request, options)
        return answer

    def resume(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ResumeReceiverRequest],
    ) -> types.ResumeReceiverResponse:
        """
        Ends a pause. The mail that waits goes out at the rate of its group, each message within an
        hour. Does nothing to a group that is not paused.
        """
        answer: types.ResumeReceiverResponse = self._http.call(_RESUME, request, options)
        return answer

    def list_paused(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ReceiversListPausedQuery],
    ) -> types.ListPausedReceiversResponse:
        """Lists the groups of an integration that are paused, by name."""
        answer: types.ListPausedReceiversResponse = self._http.call(_LIST_PAUSED, request, options)
        return answer


class AsyncReceivers:
    """
    Pauses mail to groups of receivers of an integration that delivers directly (`direct` of its
    SMTP settings). A group is named as the page of a broadcast and `status_info` of messages that
    wait name it: `google`, or a domain.
    """

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def pause(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.PauseReceiverRequest],
    ) -> types.PauseReceiverResponse:
        """
        Pauses a group for some time. Within two seconds no more mail to it is begun; it waits as
        deferred mail, other groups go on, and no attempt is counted. Mail that is under way
        arrives. A group that is paused already gets the new end. Mail to a domain for which DNS
        has not answered yet counts for the domain itself, and goes out unless the domain is
        paused. Mail to a domain whose mail hosts are of another group counts for that group alone:
        a pause of the domain does not stop it.
        """
        answer: types.PauseReceiverResponse = await self._http.call(_PAUSE, request, options)
        return answer

    async def resume(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ResumeReceiverRequest],
    ) -> types.ResumeReceiverResponse:
        """
        Ends a pause. The mail that waits goes out at the rate of its group, each message within an
        hour. Does nothing to a group that is not paused.
        """
        answer: types.ResumeReceiverResponse = await self._http.call(_RESUME, request, options)
        return answer

    async def list_paused(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ReceiversListPausedQuery],
    ) -> types.ListPausedReceiversResponse:
        """Lists the groups of an integration that are paused, by name."""
        answer: types.ListPausedReceiversResponse = await self._http.call(
            _LIST_PAUSED, request, options
        )
        return answer
