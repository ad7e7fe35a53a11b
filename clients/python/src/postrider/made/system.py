# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import Unpack
from . import types

_HOLD = Operation("GET", "/api/system.hold")
_PLACE_HOLD = Operation("POST", "/api/system.placeHold")
_RELEASE_HOLD = Operation("POST", "/api/system.releaseHold")


class SystemHoldQuery(t.TypedDict):
    pass


class System:
    """
    The hold of the installation: with it no broadcast and no transactional message is sent, while
    the API works. A database that was restored from a backup is on hold, since the system may have
    sent since the backup what the restored rows do not know.
    """

    def __init__(self, http: Http) -> None:
        self._http = http

    def hold(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[SystemHoldQuery],
    ) -> types.GetHoldResponse:
        """
        Reads the hold, and what is in doubt: broadcasts that were being sent and transactional
        messages that waited.
        """
        answer: types.GetHoldResponse = self._http.call(_HOLD, request, options)
        return answer

    def place_hold(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.PlaceHoldRequest],
    ) -> types.PlaceHoldResponse:
        """
        Places a hold. Processes stop to begin messages within a second; broadcasts wait as in an
        outage, with the reason.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.PlaceHoldResponse = self._http.call(_PLACE_HOLD, request, options)
        return answer

    def release_hold(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ReleaseHoldRequest],
    ) -> types.ReleaseHoldResponse:
        """
        Releases the hold. Broadcasts go on when they try again, or when somebody resumes them.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.ReleaseHoldResponse = self._http.call(_RELEASE_HOLD, request, options)
        return answer


class AsyncSystem:
    """
    The hold of the installation: with it no broadcast and no transactional message is sent, while
    the API works. A database that was restored from a backup is on hold, since the system may have
    sent since the backup what the restored rows do not know.
    """

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def hold(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[SystemHoldQuery],
    ) -> types.GetHoldResponse:
        """
        Reads the hold, and what is in doubt: broadcasts that were being sent and transactional
        messages that waited.
        """
        answer: types.GetHoldResponse = await self._http.call(_HOLD, request, options)
        return answer

    async def place_hold(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.PlaceHoldRequest],
    ) -> types.PlaceHoldResponse:
        """
        Places a hold. Processes stop to begin messages within a second; broadcasts wait as in an
        outage, with the reason.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.PlaceHoldResponse = await self._http.call(_PLACE_HOLD, request, options)
        return answer

    async def release_hold(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ReleaseHoldRequest],
    ) -> types.ReleaseHoldResponse:
        """
        Releases the hold. Broadcasts go on when they try again, or when somebody resumes them.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.ReleaseHoldResponse = await self._http.call(_RELEASE_HOLD, request, options)
        return answer
