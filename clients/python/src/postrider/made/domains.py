# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_LIST = Operation("GET", "/api/domains.list")
_GET = Operation("GET", "/api/domains.get")
_CREATE = Operation("POST", "/api/domains.create", keyed=True)
_UPDATE = Operation("POST", "/api/domains.update")
_VERIFY = Operation("POST", "/api/domains.verify")
_ROTATE_KEY = Operation("POST", "/api/domains.rotateKey", keyed=True)
_DELETE = Operation("POST", "/api/domains.delete")
_TEST_MAIL = Operation("POST", "/api/domains.testMail")
_TEST_RESULT = Operation("GET", "/api/domains.testResult")


class DomainsListQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""


class DomainsGetQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    name: str
    """The domain's name."""


class DomainsTestResultQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The test's id. A UUID."""


class Domains:
    """
    Says which DNS records a sending domain needs, looks whether they are there, and keeps the keys
    that sign its mails.

    A new domain is checked at once, after 1, 5, 15 and 60 minutes, and then daily; hourly while a
    record is missing in its first 3 days, and while it is held. A change of the domain, and a
    check with another result than the one before, begin this again. The owners of the workspace
    get a mail when a domain that was in order is not so any more, and one when it is again. If
    nothing proves a domain any more, or no key of it can be read, at three checks over at least 24
    hours, then its mails wait. A DNS server that fails never makes a record wrong.

    Postrider signs no mail of a domain that has no keys: then the mail server of the integration
    signs, or nobody.
    """

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[DomainsListQuery],
    ) -> types.ListDomainsResponse:
        """Lists the domains of a workspace, by name. At most 100."""
        answer: types.ListDomainsResponse = self._http.call(_LIST, request, options)
        return answer

    def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[DomainsGetQuery],
    ) -> types.GetDomainResponse:
        """Reads a domain."""
        answer: types.GetDomainResponse = self._http.call(_GET, request, options)
        return answer

    def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateDomainRequest],
    ) -> types.CreateDomainResponse:
        """
        Adds a domain, and makes its keys. Other workspaces may add the same one; it belongs to the
        first whose ownership record is found.
        """
        answer: types.CreateDomainResponse = self._http.call(_CREATE, request, options)
        return answer

    def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateDomainRequest],
    ) -> types.UpdateDomainResponse:
        """
        Replaces the algorithms and hosts of a domain. A key of a new algorithm is made; those of
        an algorithm that is left out sign until another one does, or no more where none is left;
        their records should stay for 7 days.
        """
        answer: types.UpdateDomainResponse = self._http.call(_UPDATE, request, options)
        return answer

    def verify(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.VerifyDomainRequest],
    ) -> types.VerifyDomainResponse:
        """
        Looks at all records of a domain now, and answers with what is found. It takes up to 25
        seconds where DNS servers do not answer.
        """
        answer: types.VerifyDomainResponse = self._http.call(_VERIFY, request, options)
        return answer

    def rotate_key(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RotateDomainKeyRequest],
    ) -> types.RotateDomainKeyResponse:
        """
        Makes the next key of each algorithm. The key in use signs until the new one may: once all
        DNS servers of the installation have shown it for an hour (`DKIM_KEY_SEEN_FOR`). Then the
        old record should stay for 7 days, since mails on their way are signed by it.
        """
        answer: types.RotateDomainKeyResponse = self._http.call(_ROTATE_KEY, request, options)
        return answer

    def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteDomainRequest],
    ) -> types.DeleteDomainResponse:
        """
        Deletes a domain with its keys. Its mails are sent as those of any other address, unsigned.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.DeleteDomainResponse = self._http.call(_DELETE, request, options)
        return answer

    def test_mail(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SendDomainTestRequest],
    ) -> types.SendDomainTestResponse:
        """
        Sends a test mail from a sender of the workspace in the domain. The answer comes once the
        integration's provider has taken or refused it; `domains.testResult` tells what became of
        it. The last 100 tests of a workspace are kept.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.SendDomainTestResponse = self._http.call(_TEST_MAIL, request, options)
        return answer

    def test_result(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[DomainsTestResultQuery],
    ) -> types.GetDomainTestResponse:
        """Tells what became of a test mail."""
        answer: types.GetDomainTestResponse = self._http.call(_TEST_RESULT, request, options)
        return answer


class AsyncDomains:
    """
    Says which DNS records a sending domain needs, looks whether they are there, and keeps the keys
    that sign its mails.

    A new domain is checked at once, after 1, 5, 15 and 60 minutes, and then daily; hourly while a
    record is missing in its first 3 days, and while it is held. A change of the domain, and a
    check with another result than the one before, begin this again. The owners of the workspace
    get a mail when a domain that was in order is not so any more, and one when it is again. If
    nothing proves a domain any more, or no key of it can be read, at three checks over at least 24
    hours, then its mails wait. A DNS server that fails never makes a record wrong.

    Postrider signs no mail of a domain that has no keys: then the mail server of the integration
    signs, or nobody.
    """

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[DomainsListQuery],
    ) -> types.ListDomainsResponse:
        """Lists the domains of a workspace, by name. At most 100."""
        answer: types.ListDomainsResponse = await self._http.call(_LIST, request, options)
        return answer

    async def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[DomainsGetQuery],
    ) -> types.GetDomainResponse:
        """Reads a domain."""
        answer: types.GetDomainResponse = await self._http.call(_GET, request, options)
        return answer

    async def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateDomainRequest],
    ) -> types.CreateDomainResponse:
        """
        Adds a domain, and makes its keys. Other workspaces may add the same one; it belongs to the
        first whose ownership record is found.
        """
        answer: types.CreateDomainResponse = await self._http.call(_CREATE, request, options)
        return answer

    async def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateDomainRequest],
    ) -> types.UpdateDomainResponse:
        """
        Replaces the algorithms and hosts of a domain. A key of a new algorithm is made; those of
        an algorithm that is left out sign until another one does, or no more where none is left;
        their records should stay for 7 days.
        """
        answer: types.UpdateDomainResponse = await self._http.call(_UPDATE, request, options)
        return answer

    async def verify(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.VerifyDomainRequest],
    ) -> types.VerifyDomainResponse:
        """
        Looks at all records of a domain now, and answers with what is found. It takes up to 25
        seconds where DNS servers do not answer.
        """
        answer: types.VerifyDomainResponse = await self._http.call(_VERIFY, request, options)
        return answer

    async def rotate_key(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RotateDomainKeyRequest],
    ) -> types.RotateDomainKeyResponse:
        """
        Makes the next key of each algorithm. The key in use signs until the new one may: once all
        DNS servers of the installation have shown it for an hour (`DKIM_KEY_SEEN_FOR`). Then the
        old record should stay for 7 days, since mails on their way are signed by it.
        """
        answer: types.RotateDomainKeyResponse = await self._http.call(_ROTATE_KEY, request, options)
        return answer

    async def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteDomainRequest],
    ) -> types.DeleteDomainResponse:
        """
        Deletes a domain with its keys. Its mails are sent as those of any other address, unsigned.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.DeleteDomainResponse = await self._http.call(_DELETE, request, options)
        return answer

    async def test_mail(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SendDomainTestRequest],
    ) -> types.SendDomainTestResponse:
        """
        Sends a test mail from a sender of the workspace in the domain. The answer comes once the
        integration's provider has taken or refused it; `domains.testResult` tells what became of
        it. The last 100 tests of a workspace are kept.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.SendDomainTestResponse = await self._http.call(_TEST_MAIL, request, options)
        return answer

    async def test_result(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[DomainsTestResultQuery],
    ) -> types.GetDomainTestResponse:
        """Tells what became of a test mail."""
        answer: types.GetDomainTestResponse = await self._http.call(_TEST_RESULT, request, options)
        return answer
