# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_LIST = Operation("GET", "/api/webhookSubscriptions.list")
_GET = Operation("GET", "/api/webhookSubscriptions.get")
_CREATE = Operation("POST", "/api/webhookSubscriptions.create", keyed=True)
_UPDATE = Operation("POST", "/api/webhookSubscriptions.update")
_TOGGLE = Operation("POST", "/api/webhookSubscriptions.toggle")
_DELETE = Operation("POST", "/api/webhookSubscriptions.delete")
_REGENERATE_SECRET = Operation("POST", "/api/webhookSubscriptions.regenerateSecret")
_TEST = Operation("POST", "/api/webhookSubscriptions.test")
_DELIVERIES = Operation("GET", "/api/webhookSubscriptions.deliveries")
_REDELIVER = Operation("POST", "/api/webhookSubscriptions.redeliver")
_EVENT_TYPES = Operation("GET", "/api/webhookSubscriptions.eventTypes")


class WebhookSubscriptionsListQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    limit: NotRequired[int]
    """The newest of them: 1 to 1,000; all if absent."""


class WebhookSubscriptionsGetQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The subscription."""


class WebhookSubscriptionsDeliveriesQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    subscription_id: NotRequired[str]
    """Only those of this subscription, or of this listener."""

    limit: NotRequired[int]
    """1 to 100; 20 if absent."""

    offset: NotRequired[int]
    """How many to leave out, at most 100,000; to read further back, use `until`."""

    status: NotRequired[str]
    """Only those in this status: `pending`, `delivered`, `failed` or `waiting`."""

    event_type: NotRequired[str]
    """Only those of this type."""

    since: NotRequired[str]
    """Only those made at or after this time."""

    until: NotRequired[str]
    """Only those made before this time."""

    id: NotRequired[str]
    """Only the one with this id; a UUID."""


class WebhookSubscriptionsEventTypesQuery(t.TypedDict):
    pass


class WebhookSubscriptions:
    """
    Keeps webhook subscriptions, and shows and repeats their deliveries.

    A callback is a POST of `{id, type, workspace_id, timestamp, data}` with the headers
    `webhook-id`, `webhook-timestamp` and `webhook-signature`. `id` is that of the delivery and the
    same in each attempt; the order is not promised. An answer with a status from 200 to 299 within
    10 seconds is a success; redirects are failures. After a failure the callback is repeated after
    30 seconds, 1, 2, 5, 15 and 30 minutes, 1, 2 and 6 hours (each up to 10 % more or less), or
    later if the answer says so in `Retry-After`. An answer of 410 disables the subscription; so do
    five days with at least five failures and no success.

    At most 100,000 deliveries of a subscription and 500,000 of a workspace are pending, or what
    the installation sets: beyond that the oldest become `failed`, with the reason in `last_error`,
    and the owners of the workspace get a mail. `redeliver` brings them back.
    """

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WebhookSubscriptionsListQuery],
    ) -> types.ListWebhookSubscriptionsResponse:
        """Lists all subscriptions, newest first. At most 100."""
        answer: types.ListWebhookSubscriptionsResponse = self._http.call(_LIST, request, options)
        return answer

    def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WebhookSubscriptionsGetQuery],
    ) -> types.GetWebhookSubscriptionResponse:
        """Reads one subscription."""
        answer: types.GetWebhookSubscriptionResponse = self._http.call(_GET, request, options)
        return answer

    def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateWebhookSubscriptionRequest],
    ) -> types.CreateWebhookSubscriptionResponse:
        """
        Creates an enabled subscription with a new secret. Every event that happens after the
        answer is delivered.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.CreateWebhookSubscriptionResponse = self._http.call(_CREATE, request, options)
        return answer

    def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateWebhookSubscriptionRequest],
    ) -> types.UpdateWebhookSubscriptionResponse:
        """
        Replaces the name, address, types and filters of a subscription. Its secret stays. A new
        address ends the pause that failures of the old one have caused.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.UpdateWebhookSubscriptionResponse = self._http.call(_UPDATE, request, options)
        return answer

    def toggle(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ToggleWebhookSubscriptionRequest],
    ) -> types.ToggleWebhookSubscriptionResponse:
        """
        Enables or disables a subscription. While it is disabled it gets no new events, and what is
        pending waits. Enabling forgets earlier failures.
        """
        answer: types.ToggleWebhookSubscriptionResponse = self._http.call(_TOGGLE, request, options)
        return answer

    def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteWebhookSubscriptionRequest],
    ) -> types.DeleteWebhookSubscriptionResponse:
        """
        Deletes a subscription and its deliveries. No callback begins after the answer; those that
        are open end within 10 seconds. Where the service runs in several processes, each of the
        others may still begin 20 that it had claimed before.
        """
        answer: types.DeleteWebhookSubscriptionResponse = self._http.call(_DELETE, request, options)
        return answer

    def regenerate_secret(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RegenerateWebhookSecretRequest],
    ) -> types.RegenerateWebhookSecretResponse:
        """
        Replaces the secret. The next attempt of every delivery is signed with the new one; the old
        one is invalid at once.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.RegenerateWebhookSecretResponse = self._http.call(
            _REGENERATE_SECRET, request, options
        )
        return answer

    def test(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.TestWebhookSubscriptionRequest],
    ) -> types.TestWebhookSubscriptionResponse:
        """
        Sends one signed callback with made-up data, enabled or not, and waits for its answer. It
        is no delivery: it is not recorded and not repeated. The answer says why it failed.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.TestWebhookSubscriptionResponse = self._http.call(_TEST, request, options)
        return answer

    def deliveries(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WebhookSubscriptionsDeliveriesQuery],
    ) -> types.ListWebhookDeliveriesResponse:
        """
        Lists deliveries, newest first. Payloads that the caller may not read are left empty. It
        looks at the newest 100,000 of the subscription and the times that are asked for.
        """
        answer: types.ListWebhookDeliveriesResponse = self._http.call(_DELIVERIES, request, options)
        return answer

    def redeliver(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RedeliverWebhooksRequest],
    ) -> types.RedeliverWebhooksResponse:
        """
        Delivers failed deliveries of a subscription again, under the same ids, with ten new
        attempts: one of them, or all that were made since a time, oldest first, 10,000 per call.
        """
        answer: types.RedeliverWebhooksResponse = self._http.call(_REDELIVER, request, options)
        return answer

    def event_types(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WebhookSubscriptionsEventTypesQuery],
    ) -> types.ListWebhookEventTypesResponse:
        """Lists all types of events."""
        answer: types.ListWebhookEventTypesResponse = self._http.call(
            _EVENT_TYPES, request, options
        )
        return answer


class AsyncWebhookSubscriptions:
    """
    Keeps webhook subscriptions, and shows and repeats their deliveries.

    A callback is a POST of `{id, type, workspace_id, timestamp, data}` with the headers
    `webhook-id`, `webhook-timestamp` and `webhook-signature`. `id` is that of the delivery and the
    same in each attempt; the order is not promised. An answer with a status from 200 to 299 within
    10 seconds is a success; redirects are failures. After a failure the callback is repeated after
    30 seconds, 1, 2, 5, 15 and 30 minutes, 1, 2 and 6 hours (each up to 10 % more or less), or
    later if the answer says so in `Retry-After`. An answer of 410 disables the subscription; so do
    five days with at least five failures and no success.

    At most 100,000 deliveries of a subscription and 500,000 of a workspace are pending, or what
    the installation sets: beyond that the oldest become `failed`, with the reason in `last_error`,
    and the owners of the workspace get a mail. `redeliver` brings them back.
    """

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WebhookSubscriptionsListQuery],
    ) -> types.ListWebhookSubscriptionsResponse:
        """Lists all subscriptions, newest first. At most 100."""
        answer: types.ListWebhookSubscriptionsResponse = await self._http.call(
            _LIST, request, options
        )
        return answer

    async def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WebhookSubscriptionsGetQuery],
    ) -> types.GetWebhookSubscriptionResponse:
        """Reads one subscription."""
        answer: types.GetWebhookSubscriptionResponse = await self._http.call(_GET, request, options)
        return answer

    async def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateWebhookSubscriptionRequest],
    ) -> types.CreateWebhookSubscriptionResponse:
        """
        Creates an enabled subscription with a new secret. Every event that happens after the
        answer is delivered.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.CreateWebhookSubscriptionResponse = await self._http.call(
            _CREATE, request, options
        )
        return answer

    async def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateWebhookSubscriptionRequest],
    ) -> types.UpdateWebhookSubscriptionResponse:
        """
        Replaces the name, address, types and filters of a subscription. Its secret stays. A new
        address ends the pause that failures of the old one have caused.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.UpdateWebhookSubscriptionResponse = await self._http.call(
            _UPDATE, request, options
        )
        return answer

    async def toggle(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ToggleWebhookSubscriptionRequest],
    ) -> types.ToggleWebhookSubscriptionResponse:
        """
        Enables or disables a subscription. While it is disabled it gets no new events, and what is
        pending waits. Enabling forgets earlier failures.
        """
        answer: types.ToggleWebhookSubscriptionResponse = await self._http.call(
            _TOGGLE, request, options
        )
        return answer

    async def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteWebhookSubscriptionRequest],
    ) -> types.DeleteWebhookSubscriptionResponse:
        """
        Deletes a subscription and its deliveries. No callback begins after the answer; those that
        are open end within 10 seconds. Where the service runs in several processes, each of the
        others may still begin 20 that it had claimed before.
        """
        answer: types.DeleteWebhookSubscriptionResponse = await self._http.call(
            _DELETE, request, options
        )
        return answer

    async def regenerate_secret(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RegenerateWebhookSecretRequest],
    ) -> types.RegenerateWebhookSecretResponse:
        """
        Replaces the secret. The next attempt of every delivery is signed with the new one; the old
        one is invalid at once.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.RegenerateWebhookSecretResponse = await self._http.call(
            _REGENERATE_SECRET, request, options
        )
        return answer

    async def test(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.TestWebhookSubscriptionRequest],
    ) -> types.TestWebhookSubscriptionResponse:
        """
        Sends one signed callback with made-up data, enabled or not, and waits for its answer. It
        is no delivery: it is not recorded and not repeated. The answer says why it failed.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.TestWebhookSubscriptionResponse = await self._http.call(
            _TEST, request, options
        )
        return answer

    async def deliveries(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WebhookSubscriptionsDeliveriesQuery],
    ) -> types.ListWebhookDeliveriesResponse:
        """
        Lists deliveries, newest first. Payloads that the caller may not read are left empty. It
        looks at the newest 100,000 of the subscription and the times that are asked for.
        """
        answer: types.ListWebhookDeliveriesResponse = await self._http.call(
            _DELIVERIES, request, options
        )
        return answer

    async def redeliver(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RedeliverWebhooksRequest],
    ) -> types.RedeliverWebhooksResponse:
        """
        Delivers failed deliveries of a subscription again, under the same ids, with ten new
        attempts: one of them, or all that were made since a time, oldest first, 10,000 per call.
        """
        answer: types.RedeliverWebhooksResponse = await self._http.call(
            _REDELIVER, request, options
        )
        return answer

    async def event_types(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WebhookSubscriptionsEventTypesQuery],
    ) -> types.ListWebhookEventTypesResponse:
        """Lists all types of events."""
        answer: types.ListWebhookEventTypesResponse = await self._http.call(
            _EVENT_TYPES, request, options
        )
        return answer
