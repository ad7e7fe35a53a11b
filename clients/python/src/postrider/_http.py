"""Calls operations, and repeats a call where that cannot do it twice."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import time
import uuid
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import (
    Any,
    AsyncIterable,
    AsyncIterator,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Type,
    TypedDict,
    TypeVar,
    Union,
)

import httpx

from ._version import __version__
from .csv_import import AsyncContent, Content
from .errors import ApiError, PostriderError, TimedOutError, TransportError, error_of

_FIRST_WAIT = 0.2
_WAIT_MAX = 60
_CHUNK = 65_536

_Sync = TypeVar("_Sync", bound="Client")
_Async = TypeVar("_Async", bound="AsyncClient")


class RequestOptions(TypedDict, total=False):
    """Of one call."""

    timeout: float
    """Seconds, in place of the client's."""

    retries: int
    """Attempts after the first one, in place of the client's."""

    idempotency_key: str
    """
    Makes repeats of a call one call, for a day. A call that may be repeated without harm has one of
    its own, if none is given.
    """


@dataclass(frozen=True)
class Operation:
    verb: str
    path: str
    keyed: bool = False
    """Whether it takes an `Idempotency-Key`."""


@dataclass(frozen=True)
class Settings:
    base_url: str
    token: Optional[str]
    workspace_id: Optional[str]
    timeout: float
    retries: int


@dataclass(frozen=True)
class Call:
    """One call with all its attempts."""

    operation: Operation
    request: Dict[str, Any]
    """As `httpx` takes it, without the body of a file."""
    timeout: float
    retries: int

    def wait_after(self, attempt: int, error: PostriderError) -> Optional[float]:
        """Seconds until the next attempt; none if there is no other one."""
        if attempt >= self.retries or not self._may_repeat(error):
            return None
        asked = (error.retry_after or 0) if isinstance(error, ApiError) else 0
        if asked > _WAIT_MAX:
            return None
        # Spread, so that clients that failed together do not return together.
        return asked + _FIRST_WAIT * 2.0**attempt * (0.5 + random.random())

    def _may_repeat(self, error: PostriderError) -> bool:
        """Whether a repeat can do no harm and may succeed."""
        is_safe = self.operation.verb == "GET" or self.operation.keyed
        if isinstance(error, TransportError):
            return is_safe
        if not isinstance(error, ApiError):
            return False
        # A call is refused before anything is done.
        return error.status == 429 or (is_safe and error.status in (502, 503, 504))

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Failures of `httpx` as those of this package."""
        where = f"{self.operation.verb} {self.operation.path}"
        try:
            yield
        except httpx.TimeoutException as error:
            raise TimedOutError(f"{where} took too long") from error
        except httpx.RequestError as error:
            raise TransportError(f"{where} got no answer, or one that was cut") from error


class Body:
    """A body that is read until its end, or until it took too long."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._ends = time.monotonic() + call.timeout
        self._parts: List[bytes] = []

    def add(self, part: bytes) -> None:
        self._parts.append(part)
        if time.monotonic() > self._ends:
            raise TimedOutError(f"{self._call.operation.path} took too long")

    def bytes(self) -> bytes:
        return b"".join(self._parts)

    def json(self) -> Any:
        return _parsed(self.bytes())


def _call_of(
    settings: Settings,
    operation: Operation,
    fields: Mapping[str, Any],
    options: Optional[RequestOptions],
    file_type: Optional[str] = None,
) -> Call:
    given: RequestOptions = options or {}
    # Operations that are about no workspace ignore it.
    own = {} if settings.workspace_id is None else {"workspace_id": settings.workspace_id}
    everything = {**own, **{name.rstrip("_"): value for name, value in fields.items()}}
    headers = {"user-agent": f"postrider-python/{__version__}"}
    if settings.token is not None:
        headers["authorization"] = f"Bearer {settings.token}"
    if operation.keyed:
        headers["idempotency-key"] = given.get("idempotency_key") or str(uuid.uuid4())
    timeout = given.get("timeout", settings.timeout)
    request: Dict[str, Any] = {
        "method": operation.verb,
        "url": settings.base_url.rstrip("/") + operation.path,
        "headers": headers,
        "timeout": timeout,
    }
    if operation.verb == "GET" or file_type is not None:
        request["params"] = {name: each for name, each in everything.items() if each is not None}
    else:
        headers["content-type"] = "application/json"
        request["content"] = json.dumps(everything, ensure_ascii=False, allow_nan=False).encode()
    retries = given.get("retries", settings.retries)
    if file_type is not None:
        headers.update({"content-type": file_type, "accept": "application/json"})
        # A file is sent once: it has been read then.
        retries = 0
    return Call(operation, request, timeout, retries)


def _parsed(text: Union[str, bytes]) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise TransportError("the answer is not JSON") from error


class Http:
    def __init__(self, settings: Settings, client: httpx.Client) -> None:
        self._settings = settings
        self._client = client

    def call(
        self, operation: Operation, fields: Mapping[str, Any], options: Optional[RequestOptions]
    ) -> Any:
        """The answer of an operation, read whole."""
        return self._whole(_call_of(self._settings, operation, fields, options))

    def pages(
        self,
        operation: Operation,
        fields: Mapping[str, Any],
        options: Optional[RequestOptions],
        items: str,
    ) -> Iterator[Any]:
        """The items of all pages, each page asked for when the one before is used up."""
        page = self.call(operation, fields, options)
        yield from page[items]
        while page.get("next_cursor"):
            page = self.call(operation, {**fields, "cursor": page["next_cursor"]}, options)
            yield from page[items]

    def lines(
        self, operation: Operation, fields: Mapping[str, Any], options: Optional[RequestOptions]
    ) -> Iterator[Any]:
        """Each line of an answer in JSON lines, of any length."""
        rest = b""
        for part in self.stream(operation, fields, options):
            *lines, rest = (rest + part).split(b"\n")
            yield from (_parsed(line) for line in lines if line)
        if rest:
            yield _parsed(rest)

    def stream(
        self, operation: Operation, fields: Mapping[str, Any], options: Optional[RequestOptions]
    ) -> Iterator[bytes]:
        """The bytes of an answer of any length."""
        call = _call_of(self._settings, operation, fields, options)
        for attempt in itertools.count():
            try:
                with call.failures(), self._opened(call) as answer:
                    # Behind the head nothing is repeated: a part may have been read.
                    call = Call(operation, call.request, call.timeout, 0)
                    yield from answer.iter_bytes()
                    return
            except PostriderError as error:
                self._wait(call, attempt, error)

    def send_file(
        self,
        operation: Operation,
        fields: Mapping[str, Any],
        options: Optional[RequestOptions],
        content: Content,
    ) -> Any:
        """The answer to a CSV file."""
        call = _call_of(self._settings, operation, fields, options, "text/csv")
        return self._whole(call, content=_parts_of(content))

    def _whole(self, call: Call, **content: Any) -> Any:
        for attempt in itertools.count():
            try:
                with call.failures(), self._opened(call, **content) as answer:
                    body = Body(call)
                    for part in answer.iter_bytes():
                        body.add(part)
                    return body.json()
            except PostriderError as error:
                self._wait(call, attempt, error)

    @contextmanager
    def _opened(self, call: Call, **content: Any) -> Iterator[httpx.Response]:
        with self._client.stream(**call.request, **content) as answer:
            if not answer.is_success:
                body = Body(call)
                for part in answer.iter_bytes():
                    body.add(part)
                raise error_of(answer, body.bytes())
            yield answer

    @staticmethod
    def _wait(call: Call, attempt: int, error: PostriderError) -> None:
        seconds = call.wait_after(attempt, error)
        if seconds is None:
            raise error
        time.sleep(seconds)


class AsyncHttp:
    def __init__(self, settings: Settings, client: httpx.AsyncClient) -> None:
        self._settings = settings
        self._client = client

    async def call(
        self, operation: Operation, fields: Mapping[str, Any], options: Optional[RequestOptions]
    ) -> Any:
        """The answer of an operation, read whole."""
        return await self._whole(_call_of(self._settings, operation, fields, options))

    async def pages(
        self,
        operation: Operation,
        fields: Mapping[str, Any],
        options: Optional[RequestOptions],
        items: str,
    ) -> AsyncIterator[Any]:
        """The items of all pages, each page asked for when the one before is used up."""
        page = await self.call(operation, fields, options)
        for item in page[items]:
            yield item
        while page.get("next_cursor"):
            page = await self.call(operation, {**fields, "cursor": page["next_cursor"]}, options)
            for item in page[items]:
                yield item

    async def lines(
        self, operation: Operation, fields: Mapping[str, Any], options: Optional[RequestOptions]
    ) -> AsyncIterator[Any]:
        """Each line of an answer in JSON lines, of any length."""
        rest = b""
        async for part in self.stream(operation, fields, options):
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                if line:
                    yield _parsed(line)
        if rest:
            yield _parsed(rest)

    async def stream(
        self, operation: Operation, fields: Mapping[str, Any], options: Optional[RequestOptions]
    ) -> AsyncIterator[bytes]:
        """The bytes of an answer of any length."""
        call = _call_of(self._settings, operation, fields, options)
        for attempt in itertools.count():
            try:
                with call.failures():
                    async with self._opened(call) as answer:
                        # Behind the head nothing is repeated: a part may have been read.
                        call = Call(operation, call.request, call.timeout, 0)
                        async for part in answer.aiter_bytes():
                            yield part
                        return
            except PostriderError as error:
                await self._wait(call, attempt, error)

    async def send_file(
        self,
        operation: Operation,
        fields: Mapping[str, Any],
        options: Optional[RequestOptions],
        content: AsyncContent,
    ) -> Any:
        """The answer to a CSV file."""
        call = _call_of(self._settings, operation, fields, options, "text/csv")
        return await self._whole(call, content=_async_parts_of(content))

    async def _whole(self, call: Call, **content: Any) -> Any:
        for attempt in itertools.count():
            try:
                with call.failures():
                    async with self._opened(call, **content) as answer:
                        body = Body(call)
                        async for part in answer.aiter_bytes():
                            body.add(part)
                        return body.json()
            except PostriderError as error:
                await self._wait(call, attempt, error)

    @asynccontextmanager
    async def _opened(self, call: Call, **content: Any) -> AsyncIterator[httpx.Response]:
        async with self._client.stream(**call.request, **content) as answer:
            if not answer.is_success:
                body = Body(call)
                async for part in answer.aiter_bytes():
                    body.add(part)
                raise error_of(answer, body.bytes())
            yield answer

    @staticmethod
    async def _wait(call: Call, attempt: int, error: PostriderError) -> None:
        seconds = call.wait_after(attempt, error)
        if seconds is None:
            raise error
        await asyncio.sleep(seconds)


def _parts_of(content: Content) -> Iterator[bytes]:
    if isinstance(content, str):
        yield content.encode()
    elif isinstance(content, bytes):
        yield content
    elif hasattr(content, "read"):
        while part := content.read(_CHUNK):
            yield _binary(part)
    else:
        yield from content


async def _async_parts_of(content: AsyncContent) -> AsyncIterator[bytes]:
    if isinstance(content, AsyncIterable):
        async for part in content:
            yield part
        return
    parts = _parts_of(content)
    while part := await asyncio.to_thread(next, parts, b""):
        yield part


def _binary(part: Any) -> bytes:
    if not isinstance(part, bytes):
        raise TypeError("open the file in binary mode, such as open(path, 'rb')")
    return part


class Client:
    """What all resources share: the settings and the connections."""

    def __init__(
        self,
        base_url: str,
        *,
        token: Optional[str] = None,
        workspace_id: Optional[str] = None,
        timeout: float = 30,
        retries: int = 2,
        http_client: Optional[httpx.Client] = None,
    ) -> None:
        """
        `base_url` is the address of the gateway, such as `https://mail.example.com`. `token` is an
        API key or the token of a session. `workspace_id` is the workspace of calls that name none.
        `timeout` is in seconds, for each wait of an attempt and for reading its whole answer.
        `retries` counts attempts after the first one. `http_client` has proxies and certificates
        of your own, and is yours to close.
        """
        self._client = http_client or httpx.Client()
        self._owns_client = http_client is None
        settings = Settings(base_url, token, workspace_id, timeout, retries)
        self._http = Http(settings, self._client)

    def close(self) -> None:
        """Closes the connections."""
        if self._owns_client:
            self._client.close()

    def __enter__(self: _Sync) -> _Sync:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


class AsyncClient:
    """What all resources share: the settings and the connections."""

    def __init__(
        self,
        base_url: str,
        *,
        token: Optional[str] = None,
        workspace_id: Optional[str] = None,
        timeout: float = 30,
        retries: int = 2,
        http_client: Optional[httpx.AsyncClient] = None,
    ) -> None:
        """As `Postrider`, for `asyncio`."""
        self._client = http_client or httpx.AsyncClient()
        self._owns_client = http_client is None
        settings = Settings(base_url, token, workspace_id, timeout, retries)
        self._http = AsyncHttp(settings, self._client)

    async def close(self) -> None:
        """Closes the connections."""
        if self._owns_client:
            await self._client.aclose()

    async def __aenter__(self: _Async) -> _Async:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.close()
