# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_LIST = Operation("GET", "/api/transactional.list")
_GET = Operation("GET", "/api/transactional.get")
_CREATE = Operation("POST", "/api/transactional.create", keyed=True)
_UPDATE = Operation("POST", "/api/transactional.update")
_DELETE = Operation("POST", "/api/transactional.delete")
_TEST_TEMPLATE = Operation("POST", "/api/transactional.testTemplate")
_SEND = Operation("POST", "/api/transactional.send", keyed=True)
_SEND_BATCH = Operation("POST", "/api/transactional.sendBatch", keyed=True)
_CANCEL = Operation("POST", "/api/transactional.cancel")


class TransactionalListQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    search: NotRequired[str]
    """Only those with this text in their id or name, in any case. At most 255 characters."""

    limit: NotRequired[int]
    """1 to 1,000; 50 if absent."""

    offset: NotRequired[int]
    """How many to skip; 0 to 1,000."""


class TransactionalGetQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The notification."""


class Transactional:
    """
    Keeps notifications, which name the template of a kind of transactional mail, and sends them.
    """

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TransactionalListQuery],
    ) -> types.ListNotificationsResponse:
        """Lists notifications, newest first."""
        answer: types.ListNotificationsResponse = self._http.call(_LIST, request, options)
        return answer

    def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TransactionalGetQuery],
    ) -> types.GetNotificationResponse:
        """Reads a notification."""
        answer: types.GetNotificationResponse = self._http.call(_GET, request, options)
        return answer

    def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateNotificationRequest],
    ) -> types.CreateNotificationResponse:
        """Creates a notification. Its template can be deleted again only after it."""
        answer: types.CreateNotificationResponse = self._http.call(_CREATE, request, options)
        return answer

    def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateNotificationRequest],
    ) -> types.UpdateNotificationResponse:
        """
        Changes the given fields of a notification; the others stay as they are. Mail that is
        accepted before keeps the template that it was accepted with.
        """
        answer: types.UpdateNotificationResponse = self._http.call(_UPDATE, request, options)
        return answer

    def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteNotificationRequest],
    ) -> types.DeleteNotificationResponse:
        """
        Deletes a notification. Mail that is accepted before still goes out. The id is free again.
        """
        answer: types.DeleteNotificationResponse = self._http.call(_DELETE, request, options)
        return answer

    def test_template(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.TestTemplateRequest],
    ) -> types.TestTemplateResponse:
        """
        Sends a template to one address with the template's `test_data`, and waits for the server's
        answer. It is in the history, and creates no contact. A failure is reported in a successful
        answer (`success` false).

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.TestTemplateResponse = self._http.call(_TEST_TEMPLATE, request, options)
        return answer

    def send(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SendTransactionalRequest],
    ) -> types.SendTransactionalResponse:
        """
        Accepts one message to one contact, and answers when it is stored safely. It is sent at
        once, or at `send_at`; soft failures are tried again for a day, and for 5 days by an SMTP
        server that is `direct`; there a message with an `expires_at` waits for its receiver until
        then.

        The contact is created if it does not exist. Its fields are changed if the caller may write
        contacts. A repeat with the `external_id` of a message that did not fail gets the same
        answer and sends nothing; a bounce is no such failure. An address that bounced gets no
        message unless the notification says `send_to_bounced`: `success` is false then, and
        `suppressed` says why. One that complained or opted out gets it, and is reported.

        With `content` the mail is the caller's own, and needs neither a notification nor a
        template. It is kept sealed until a day after the message is done; `messages.retry` needs
        it.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.SendTransactionalResponse = self._http.call(_SEND, request, options)
        return answer

    def send_batch(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SendTransactionalBatchRequest],
    ) -> types.SendTransactionalBatchResponse:
        """
        Accepts up to 500 messages, with one answer per message in the order of the request. Each
        is accepted or refused by itself, by the rules of `transactional.send`. A message whose
        `external_id` another one of the request has is a repeat of that one.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.SendTransactionalBatchResponse = self._http.call(
            _SEND_BATCH, request, options
        )
        return answer

    def cancel(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CancelTransactionalRequest],
    ) -> types.CancelTransactionalResponse:
        """
        Cancels a message that waits for its `send_at`. Repeats do nothing. The welcome of a list
        is in the history once its delay is over, and can be cancelled until it is tried.
        """
        answer: types.CancelTransactionalResponse = self._http.call(_CANCEL, request, options)
        return answer


class AsyncTransactional:
    """
    Keeps notifications, which name the template of a kind of transactional mail, and sends them.
    """

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TransactionalListQuery],
    ) -> types.ListNotificationsResponse:
        """Lists notifications, newest first."""
        answer: types.ListNotificationsResponse = await self._http.call(_LIST, request, options)
        return answer

    async def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[TransactionalGetQuery],
    ) -> types.GetNotificationResponse:
        """Reads a notification."""
        answer: types.GetNotificationResponse = await self._http.call(_GET, request, options)
        return answer

    async def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateNotificationRequest],
    ) -> types.CreateNotificationResponse:
        """Creates a notification. Its template can be deleted again only after it."""
        answer: types.CreateNotificationResponse = await self._http.call(_CREATE, request, options)
        return answer

    async def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateNotificationRequest],
    ) -> types.UpdateNotificationResponse:
        """
        Changes the given fields of a notification; the others stay as they are. Mail that is
        accepted before keeps the template that it was accepted with.
        """
        answer: types.UpdateNotificationResponse = await self._http.call(_UPDATE, request, options)
        return answer

    async def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteNotificationRequest],
    ) -> types.DeleteNotificationResponse:
        """
        Deletes a notification. Mail that is accepted before still goes out. The id is free again.
        """
        answer: types.DeleteNotificationResponse = await self._http.call(_DELETE, request, options)
        return answer

    async def test_template(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.TestTemplateRequest],
    ) -> types.TestTemplateResponse:
        """
        Sends a template to one address with the template's `test_data`, and waits for the server's
        answer. It is in the history, and creates no contact. A failure is reported in a successful
        answer (`success` false).

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.TestTemplateResponse = await self._http.call(_TEST_TEMPLATE, request, options)
        return answer

    async def send(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SendTransactionalRequest],
    ) -> types.SendTransactionalResponse:
        """
        Accepts one message to one contact, and answers when it is stored safely. It is sent at
        once, or at `send_at`; soft failures are tried again for a day, and for 5 days by an SMTP
        server that is `direct`; there a message with an `expires_at` waits for its receiver until
        then.

        The contact is created if it does not exist. Its fields are changed if the caller may write
        contacts. A repeat with the `external_id` of a message that did not fail gets the same
        answer and sends nothing; a bounce is no such failure. An address that bounced gets no
        message unless the notification says `send_to_bounced`: `success` is false then, and
        `suppressed` says why. One that complained or opted out gets it, and is reported.

        With `content` the mail is the caller's own, and needs neither a notification nor a
        template. It is kept sealed until a day after the message is done; `messages.retry` needs
        it.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.SendTransactionalResponse = await self._http.call(_SEND, request, options)
        return answer

    async def send_batch(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SendTransactionalBatchRequest],
    ) -> types.SendTransactionalBatchResponse:
        """
        Accepts up to 500 messages, with one answer per message in the order of the request. Each
        is accepted or refused by itself, by the rules of `transactional.send`. A message whose
        `external_id` another one of the request has is a repeat of that one.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.SendTransactionalBatchResponse = await self._http.call(
            _SEND_BATCH, request, options
        )
        return answer

    async def cancel(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CancelTransactionalRequest],
    ) -> types.CancelTransactionalResponse:
        """
        Cancels a message that waits for its `send_at`. Repeats do nothing. The welcome of a list
        is in the history once its delay is over, and can be cancelled until it is tried.
        """
        answer: types.CancelTransactionalResponse = await self._http.call(_CANCEL, request, options)
        return answer
