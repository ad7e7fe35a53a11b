# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import Unpack
from . import types

_CREATE = Operation("POST", "/api/webhookListeners.create", keyed=True)
_TAKE = Operation("POST", "/api/webhookListeners.take")
_END = Operation("POST", "/api/webhookListeners.end")
_TRIGGER = Operation("POST", "/api/webhookListeners.trigger")


class WebhookListeners:
    """
    Gives events to programs that nobody can call, such as one behind NAT: `postrider listen` takes
    them, and passes them on to a local server.

    A listener has deliveries of its own, which wait until it takes them: it takes none of a
    subscription or of another listener. At most 10,000 wait; beyond that the oldest are deleted
    within a minute. A listener that takes nothing for 5 minutes ends by itself. Events that it has
    taken stay in `webhookSubscriptions.deliveries` for an hour after its end.
    """

    def __init__(self, http: Http) -> None:
        self._http = http

    def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateWebhookListenerRequest],
    ) -> types.CreateWebhookListenerResponse:
        """
        Starts a listener. Every event that happens after the answer waits for it.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.CreateWebhookListenerResponse = self._http.call(_CREATE, request, options)
        return answer

    def take(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.TakeWebhookEventsRequest],
    ) -> types.TakeWebhookEventsResponse:
        """
        Gives the oldest events that wait for a listener, at most 100 and about 1 MiB, and keeps it
        from ending for another 5 minutes. They are given again until a later call names them in
        `taken_ids`.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.TakeWebhookEventsResponse = self._http.call(_TAKE, request, options)
        return answer

    def end(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.EndWebhookListenerRequest],
    ) -> types.EndWebhookListenerResponse:
        """
        Ends a listener. It gets no events after the answer, and those that wait for it are deleted
        within a minute. A listener that has ended stays so.
        """
        answer: types.EndWebhookListenerResponse = self._http.call(_END, request, options)
        return answer

    def trigger(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.TriggerWebhookEventRequest],
    ) -> types.TriggerWebhookEventResponse:
        """
        Gives a made-up event of a type to the listeners of the workspace that want it. Nothing
        else happens: no contact and no message changes, and subscriptions get nothing
        (`webhookSubscriptions.test` is for them).

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.TriggerWebhookEventResponse = self._http.call(_TRIGGER, request, options)
        return answer


class AsyncWebhookListeners:
    """
    Gives events to programs that nobody can call, such as one behind NAT: `postrider listen` takes
    them, and passes them on to a local server.

    A listener has deliveries of its own, which wait until it takes them: it takes none of a
    subscription or of another listener. At most 10,000 wait; beyond that the oldest are deleted
    within a minute. A listener that takes nothing for 5 minutes ends by itself. Events that it has
    taken stay in `webhookSubscriptions.deliveries` for an hour after its end.
    """

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateWebhookListenerRequest],
    ) -> types.CreateWebhookListenerResponse:
        """
        Starts a listener. Every event that happens after the answer waits for it.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.CreateWebhookListenerResponse = await self._http.call(
            _CREATE, request, options
        )
        return answer

    async def take(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.TakeWebhookEventsRequest],
    ) -> types.TakeWebhookEventsResponse:
        """
        Gives the oldest events that wait for a listener, at most 100 and about 1 MiB, and keeps it
        from ending for another 5 minutes. They are given again until a later call names them in
        `taken_ids`.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.TakeWebhookEventsResponse = await self._http.call(_TAKE, request, options)
        return answer

    async def end(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.EndWebhookListenerRequest],
    ) -> types.EndWebhookListenerResponse:
        """
        Ends a listener. It gets no events after the answer, and those that wait for it are deleted
        within a minute. A listener that has ended stays so.
        """
        answer: types.EndWebhookListenerResponse = await self._http.call(_END, request, options)
        return answer

    async def trigger(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.TriggerWebhookEventRequest],
    ) -> types.TriggerWebhookEventResponse:
        """
        Gives a made-up event of a type to the listeners of the workspace that want it. Nothing
        else happens: no contact and no message changes, and subscriptions get nothing
        (`webhookSubscriptions.test` is for them).

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.TriggerWebhookEventResponse = await self._http.call(
            _TRIGGER, request, options
        )
        return answer
