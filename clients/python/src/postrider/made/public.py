# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_SUBSCRIBE = Operation("POST", "/subscribe")
_SUBSCRIBE_CHALLENGE = Operation("GET", "/subscribe/challenge")


class PublicSubscribeChallengeQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace of the form. At most 64 characters."""


class Public:

    def __init__(self, http: Http) -> None:
        self._http = http

    def subscribe(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SubscribeRequest],
    ) -> types.SubscribeResponse:
        """
        Subscribes a person to lists: all of them, or none. Without a valid `email_hmac` only
        public lists can be subscribed, and an existing contact is not changed. A list with double
        opt-in waits for a confirmation by mail; a valid `email_hmac` is the confirmation of one
        that waits already. A list that the person has left always requires one, and so does every
        list once they have left all mail. A bounce or complaint is never lifted. The answer
        reveals nothing about the address; a disposable address gets the same answer, and nothing
        is stored. Null fields count as absent.

        With the setting `form_proof_of_work` a request needs `altcha`, the solution of a challenge
        of `/subscribe/challenge`, unless `email_hmac` is valid. A solution is good for one address
        and its lists, once. A repeat within a minute gets the same answer and does nothing more. A
        request that fails does not use up its solution.
        """
        answer: types.SubscribeResponse = self._http.call(_SUBSCRIBE, request, options)
        return answer

    def subscribe_challenge(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[PublicSubscribeChallengeQuery],
    ) -> types.GetFormChallengeResponse:
        """
        Makes a challenge of ALTCHA, whose widget solves it in the browser of a form. It takes some
        hundred milliseconds of work on a desktop, up to eight times as much where many forms of
        the workspace came within the last minute. The solution goes into `altcha` of `/subscribe`
        within 5 minutes. Nothing is stored, and the answer is the same for a workspace that does
        not exist or does not ask for a proof of work.
        """
        answer: types.GetFormChallengeResponse = self._http.call(
            _SUBSCRIBE_CHALLENGE, request, options
        )
        return answer


class AsyncPublic:

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def subscribe(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SubscribeRequest],
    ) -> types.SubscribeResponse:
        """
        Subscribes a person to lists: all of them, or none. Without a valid `email_hmac` only
        public lists can be subscribed, and an existing contact is not changed. A list with double
        opt-in waits for a confirmation by mail; a valid `email_hmac` is the confirmation of one
        that waits already. A list that the person has left always requires one, and so does every
        list once they have left all mail. A bounce or complaint is never lifted. The answer
        reveals nothing about the address; a disposable address gets the same answer, and nothing
        is stored. Null fields count as absent.

        With the setting `form_proof_of_work` a request needs `altcha`, the solution of a challenge
        of `/subscribe/challenge`, unless `email_hmac` is valid. A solution is good for one address
        and its lists, once. A repeat within a minute gets the same answer and does nothing more. A
        request that fails does not use up its solution.
        """
        answer: types.SubscribeResponse = await self._http.call(_SUBSCRIBE, request, options)
        return answer

    async def subscribe_challenge(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[PublicSubscribeChallengeQuery],
    ) -> types.GetFormChallengeResponse:
        """
        Makes a challenge of ALTCHA, whose widget solves it in the browser of a form. It takes some
        hundred milliseconds of work on a desktop, up to eight times as much where many forms of
        the workspace came within the last minute. The solution goes into `altcha` of `/subscribe`
        within 5 minutes. Nothing is stored, and the answer is the same for a workspace that does
        not exist or does not ask for a proof of work.
        """
        answer: types.GetFormChallengeResponse = await self._http.call(
            _SUBSCRIBE_CHALLENGE, request, options
        )
        return answer
