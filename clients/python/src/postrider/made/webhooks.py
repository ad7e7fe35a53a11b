# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_REGISTER = Operation("POST", "/api/webhooks.register", keyed=True)
_STATUS = Operation("GET", "/api/webhooks.status")
_UNREGISTER = Operation("POST", "/api/webhooks.unregister")
_ROTATE_SECRET = Operation("POST", "/api/webhooks.rotateSecret", keyed=True)


class WebhooksStatusQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    integration_id: str
    """The integration."""


class Webhooks:
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

    def register(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RegisterReportsRequest],
    ) -> types.RegisterReportsResponse:
        """
        Registers an integration for reports and answers the URL at which they are taken. The URL
        has a secret key, which no later answer shows. An integration that is registered already
        keeps its key; `event_types` replaces the types.

        Every kind but `smtp` has webhooks of its own, which Postrider sets up with the credentials
        of the integration, and verifies what comes by their signatures where the provider signs.
        It changes nothing that others have set up there. The answer comes once the provider is set
        up or has refused it, or after 5 s. A failure is tried again, after 2 s at first and every
        hour at last; `webhooks.status` tells whether the endpoints are `active`, and the `error`
        otherwise. Register again to try at once, and after a change of `provider` settings. Kind
        `ses` needs a configuration set, which is created if there is none, and makes a topic of
        Amazon SNS unless the settings name one.

        For kind `smtp` nothing is registered anywhere else: post to the URL from whatever reads
        the logs of the mail server. The body is a JSON object, or a list of at most 1,000, of at
        most 1 MiB: `{"event": "bounce", "message_id": "…", "recipient": "ann@example.com",
        "timestamp": "2026-11-25T10:00:00Z", "bounce_category": "hard", "diagnostic_code": "550
        5.1.1 no such user"}`. `event` is `delivered`, `bounce` or `complaint`; `message_id` is the
        message's UUID, or its Message-ID. An enhanced status code in `diagnostic_code` decides the
        class of a bounce, then `bounce_category`, then the words. `complaint_type` is that of a
        feedback report, such as `abuse`. `id`, a text or a number, may name the report: one with
        the same id is the same report. Without it, reports that say the same are. The answer is
        200 once the reports are stored, 401 for whatever is wrong with the URL, 400 where the body
        is no such JSON, and 503 with `Retry-After` where they cannot be stored now.
        """
        answer: types.RegisterReportsResponse = self._http.call(_REGISTER, request, options)
        return answer

    def status(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WebhooksStatusQuery],
    ) -> types.GetReportStatusResponse:
        """
        Tells whether an integration is registered for reports, and whether its provider is set up.
        Its URLs are without their key.
        """
        answer: types.GetReportStatusResponse = self._http.call(_STATUS, request, options)
        return answer

    def unregister(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UnregisterReportsRequest],
    ) -> types.UnregisterReportsResponse:
        """
        Takes no more reports of an integration: its keys end at once. Reports that were taken are
        still applied. The webhook at the provider is removed soon after; one of an integration
        that is deleted already stays there, and what it posts is refused.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.UnregisterReportsResponse = self._http.call(_UNREGISTER, request, options)
        return answer

    def rotate_secret(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RotateReportSecretRequest],
    ) -> types.RotateReportSecretResponse:
        """
        Makes a new key for an integration's URL. The one before is taken for 24 more hours, and so
        is the one that the provider has. The provider gets the new one soon after; until then its
        endpoints are not `active`, and the key that it has is taken, for at most a week.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.RotateReportSecretResponse = self._http.call(_ROTATE_SECRET, request, options)
        return answer


class AsyncWebhooks:
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

    async def register(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RegisterReportsRequest],
    ) -> types.RegisterReportsResponse:
        """
        Registers an integration for reports and answers the URL at which they are taken. The URL
        has a secret key, which no later answer shows. An integration that is registered already
        keeps its key; `event_types` replaces the types.

        Every kind but `smtp` has webhooks of its own, which Postrider sets up with the credentials
        of the integration, and verifies what comes by their signatures where the provider signs.
        It changes nothing that others have set up there. The answer comes once the provider is set
        up or has refused it, or after 5 s. A failure is tried again, after 2 s at first and every
        hour at last; `webhooks.status` tells whether the endpoints are `active`, and the `error`
        otherwise. Register again to try at once, and after a change of `provider` settings. Kind
        `ses` needs a configuration set, which is created if there is none, and makes a topic of
        Amazon SNS unless the settings name one.

        For kind `smtp` nothing is registered anywhere else: post to the URL from whatever reads
        the logs of the mail server. The body is a JSON object, or a list of at most 1,000, of at
        most 1 MiB: `{"event": "bounce", "message_id": "…", "recipient": "ann@example.com",
        "timestamp": "2026-11-25T10:00:00Z", "bounce_category": "hard", "diagnostic_code": "550
        5.1.1 no such user"}`. `event` is `delivered`, `bounce` or `complaint`; `message_id` is the
        message's UUID, or its Message-ID. An enhanced status code in `diagnostic_code` decides the
        class of a bounce, then `bounce_category`, then the words. `complaint_type` is that of a
        feedback report, such as `abuse`. `id`, a text or a number, may name the report: one with
        the same id is the same report. Without it, reports that say the same are. The answer is
        200 once the reports are stored, 401 for whatever is wrong with the URL, 400 where the body
        is no such JSON, and 503 with `Retry-After` where they cannot be stored now.
        """
        answer: types.RegisterReportsResponse = await self._http.call(_REGISTER, request, options)
        return answer

    async def status(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WebhooksStatusQuery],
    ) -> types.GetReportStatusResponse:
        """
        Tells whether an integration is registered for reports, and whether its provider is set up.
        Its URLs are without their key.
        """
        answer: types.GetReportStatusResponse = await self._http.call(_STATUS, request, options)
        return answer

    async def unregister(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UnregisterReportsRequest],
    ) -> types.UnregisterReportsResponse:
        """
        Takes no more reports of an integration: its keys end at once. Reports that were taken are
        still applied. The webhook at the provider is removed soon after; one of an integration
        that is deleted already stays there, and what it posts is refused.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.UnregisterReportsResponse = await self._http.call(
            _UNREGISTER, request, options
        )
        return answer

    async def rotate_secret(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RotateReportSecretRequest],
    ) -> types.RotateReportSecretResponse:
        """
        Makes a new key for an integration's URL. The one before is taken for 24 more hours, and so
        is the one that the provider has. The provider gets the new one soon after; until then its
        endpoints are not `active`, and the key that it has is taken, for at most a week.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.RotateReportSecretResponse = await self._http.call(
            _ROTATE_SECRET, request, options
        )
        return answer
