"""Calls operations, and repeats a call where that cannot do it twice."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import random
import re
import time
import uuid
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
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
_RETRIES_MAX = 100
_TIMEOUT_MAX = 86_400
_ANSWER_MAX_BYTES = 64 * 1_024 * 1_024
_ERROR_MAX_BYTES = 1_024 * 1_024

_Sync = TypeVar("_Sync", bound="Client")
_Async = TypeVar("_Async", bound="AsyncClient")


class RequestOptions(TypedDict, total=False):
    """Of one call."""

    timeout: float
    """Seconds, up to a day, in place of the client's."""

    retries: int
    """Attempts after the first one, 0 to 100, in place of the client's."""

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
    answer_max_bytes: int

    def __post_init__(self) -> None:
        # httpx shows a wrong header with its value, and takes a password in place of the token.
        if self.token is not None:
            _header_of("token", self.token)
        try:
            url = httpx.URL(self.base_url)
        except httpx.InvalidURL:
            url = httpx.URL()
        if url.scheme not in ("http", "https") or not url.host or url.userinfo:
            raise ValueError("base_url has to be like https://mail.example.com, without a user")
        _check_timeout(self.timeout)
        _check_retries(self.retries)
        _within("answer_max_bytes", self.answer_max_bytes, 1, math.inf)


def _check_timeout(timeout: float) -> None:
    _within("timeout", timeout, 0.001, _TIMEOUT_MAX)


def _check_retries(retries: int) -> None:
    _within("retries", retries, 0, _RETRIES_MAX)


def _within(option: str, value: object, least: float, most: float) -> None:
    """NaN is in no range."""
    if not isinstance(value, (int, float)) or not least <= value <= most:
        raise ValueError(f"{option} is {value}: it has to be a number from {least} to {most}")


def _header_of(option: str, value: str) -> str:
    if not re.fullmatch("[ -~]*", value.strip()):
        raise ValueError(f"{option} has a line break or a letter that a header cannot have")
    return value.strip()


@dataclass(frozen=True)
class Call:
    """One call with all its attempts."""

    operation: Operation
    request: Dict[str, Any]
    """As `httpx` takes it, without the body of a file."""
    timeout: float
    retries: int
    answer_max_bytes: int

    def wait_after(self, attempt: int, error: PostriderError) -> Optional[float]:
        """Seconds until the next attempt; none if there is no other one."""
        if attempt >= self.retries or not self._may_repeat(error):
            return None
        asked = (error.retry_after or 0) if isinstance(error, ApiError) else 0
        if asked > _WAIT_MAX:
            return None
        # Spread, so that clients that failed together do not return together.
        own = min(_FIRST_WAIT * 2.0**attempt, _WAIT_MAX)
        return asked + own * (0.5 + random.random())

    def _may_repeat(self, error: PostriderError) -> bool:
        """Whether a repeat can do no harm and may succeed."""
        is_safe = self.operation.verb == "GET" or self.operation.keyed
        if isinstance(error, TransportError):
            return is_safe
        if not isinstance(error, ApiError):
            return False
        # The first attempt still runs: its answer comes under the same key.
        if self.operation.keyed and error.reason == "IDEMPOTENCY_KEY_IN_USE":
            return True
        # A call is refused before anything is done.
        return error.status == 429 or (is_safe and error.status in (502, 503, 504))

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Failures of `httpx` as those of this package."""
        try:
            yield
        except httpx.TimeoutException as error:
            raise TimedOutError(f"{self.where} took too long") from error
        except httpx.RequestError as error:
            raise TransportError(f"{self.where} got no answer, or one that was cut") from error

    @property
    def where(self) -> str:
        return f"{self.operation.verb} {self.operation.path}"

    def check_redirect(self, answer: httpx.Response) -> None:
        if answer.has_redirect_location:
            raise PostriderError(f"{self.where} was redirected: is base_url the gateway's own one?")

    def too_large(self) -> PostriderError:
        return PostriderError(f"{self.where} answered more than {self.answer_max_bytes} bytes")


class Body:
    """A body that is read until its end, until it took too long, or up to a number of bytes."""

    def __init__(self, call: Call, bytes_max: int) -> None:
        self._call = call
        self._left = bytes_max
        self._ends = time.monotonic() + call.timeout
        self._parts: List[bytes] = []

    def add(self, part: bytes) -> bool:
        """Whether there was room for it."""
        if time.monotonic() > self._ends:
            raise TimedOutError(f"{self._call.operation.path} took too long")
        self._left -= len(part)
        if self._left < 0:
            return False
        self._parts.append(part)
        return True

    def bytes(self) -> bytes:
        return b"".join(self._parts)

    def json(self) -> Any:
        return _parsed(self.bytes())


class Lines:
    """The lines of an answer in JSON lines, from its parts."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._rest = b""

    def add(self, part: bytes) -> Iterator[Any]:
        *lines, self._rest = (self._rest + part).split(b"\n")
        yield from (_parsed(line) for line in lines if line)
        if len(self._rest) > self._bytes_max:
            raise PostriderError(f"a line of the answer has more than {self._bytes_max} bytes")

    def end(self) -> Iterator[Any]:
        if self._rest:
            yield _parsed(self._rest)


class Cursors:
    """The cursors of pages. One that comes again would be a loop without an end."""

    def __init__(self) -> None:
        self._last: Optional[str] = None

    def next_of(self, page: Any) -> Optional[str]:
        """The cursor of the next page; none behind the last one."""
        cursor: Optional[str] = page.get("next_cursor") or None
        if cursor is not None and cursor == self._last:
            raise PostriderError("two pages have the same cursor")
        self._last = cursor
        return cursor


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
    if everything.get("workspace_id") is None:
        everything.update(own)
    headers = {"user-agent": f"postrider-python/{__version__}"}
    if settings.token is not None:
        headers["authorization"] = f"Bearer {_header_of('token', settings.token)}"
    if operation.keyed:
        key = given.get("idempotency_key") or str(uuid.uuid4())
        headers["idempotency-key"] = _header_of("idempotency_key", key)
    timeout = given.get("timeout", settings.timeout)
    _check_timeout(timeout)
    request: Dict[str, Any] = {
        "method": operation.verb,
        "url": settings.base_url.rstrip("/") + operation.path,
        "headers": headers,
        "timeout": timeout,
        # A redirected write would become a read.
        "follow_redirects": False,
    }
    if operation.verb == "GET" or file_type is not None:
        request["params"] = {
            name: _in_query(name, each) for name, each in everything.items() if each is not None
        }
    else:
        headers["content-type"] = "application/json"
        content = {name: _in_json(name, each) for name, each in everything.items()}
        request["content"] = json.dumps(content, ensure_ascii=False).encode()
    retries = given.get("retries", settings.retries)
    _check_retries(retries)
    if file_type is not None:
        headers.update({"content-type": file_type, "accept": "application/json"})
        # A file is sent once: it has been read then.
        retries = 0
    return Call(operation, request, timeout, retries, settings.answer_max_bytes)


def _in_query(name: str, value: object) -> Any:
    if isinstance(value, (list, tuple)):
        return [_in_query(name, each) for each in value]
    if isinstance(value, Mapping):
        raise TypeError(f"{name} is an object in a query")
    return _in_json(name, value)


def _in_json(name: str, value: object) -> Any:
    """The value with its dates as RFC 3339. JSON has no NaN and no infinity."""
    if isinstance(value, Mapping):
        return {key: _in_json(f"{name}.{key}", each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_in_json(name, each) for each in value]
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{name} is a date without a time zone")
        return value.astimezone(timezone.utc).replace(tzinfo=None).isoformat() + "Z"
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} is {value}, which JSON cannot say")
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise TypeError(f"{name} is a {type(value).__name__}, which JSON cannot say")


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
        cursors = Cursors()
        page = self.call(operation, fields, options)
        yield from page[items]
        while cursor := cursors.next_of(page):
            page = self.call(operation, {**fields, "cursor": cursor}, options)
            yield from page[items]

    def lines(
        self, operation: Operation, fields: Mapping[str, Any], options: Optional[RequestOptions]
    ) -> Iterator[Any]:
        """Each line of an answer in JSON lines, of any length."""
        lines = Lines(self._settings.answer_max_bytes)
        for part in self.stream(operation, fields, options):
            yield from lines.add(part)
        yield from lines.end()

    def stream(
        self, operation: Operation, fields: Mapping[str, Any], options: Optional[RequestOptions]
    ) -> Iterator[bytes]:
        """The bytes of an answer of any length."""
        call = _call_of(self._settings, operation, fields, options)
        for attempt in itertools.count():
            try:
                with call.failures(), self._opened(call) as answer:
                    # Behind the head nothing is repeated: a part may have been read.
                    call = replace(call, retries=0)
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
                    body = Body(call, call.answer_max_bytes)
                    for part in answer.iter_bytes():
                        if not body.add(part):
                            raise call.too_large()
                    return body.json()
            except PostriderError as error:
                self._wait(call, attempt, error)

    @contextmanager
    def _opened(self, call: Call, **content: Any) -> Iterator[httpx.Response]:
        with self._client.stream(**call.request, **content) as answer:
            call.check_redirect(answer)
            if not answer.is_success:
                body = Body(call, _ERROR_MAX_BYTES)
                for part in answer.iter_bytes():
                    if not body.add(part):
                        break
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
        cursors = Cursors()
        page = await self.call(operation, fields, options)
        for item in page[items]:
            yield item
        while cursor := cursors.next_of(page):
            page = await self.call(operation, {**fields, "cursor": cursor}, options)
            for item in page[items]:
                yield item

    async def lines(
        self, operation: Operation, fields: Mapping[str, Any], options: Optional[RequestOptions]
    ) -> AsyncIterator[Any]:
        """Each line of an answer in JSON lines, of any length."""
        lines = Lines(self._settings.answer_max_bytes)
        async for part in self.stream(operation, fields, options):
            for line in lines.add(part):
                yield line
        for line in lines.end():
            yield line

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
                        call = replace(call, retries=0)
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
                        body = Body(call, call.answer_max_bytes)
                        async for part in answer.aiter_bytes():
                            if not body.add(part):
                                raise call.too_large()
                        return body.json()
            except PostriderError as error:
                await self._wait(call, attempt, error)

    @asynccontextmanager
    async def _opened(self, call: Call, **content: Any) -> AsyncIterator[httpx.Response]:
        async with self._client.stream(**call.request, **content) as answer:
            call.check_redirect(answer)
            if not answer.is_success:
                body = Body(call, _ERROR_MAX_BYTES)
                async for part in answer.aiter_bytes():
                    if not body.add(part):
                        break
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
    elif isinstance(content, (bytes, bytearray, memoryview)):
        yield bytes(content)
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
    # A part may be empty.
    while (read := await asyncio.to_thread(lambda: next(parts, None))) is not None:
        yield read


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
        answer_max_bytes: int = _ANSWER_MAX_BYTES,
        http_client: Optional[httpx.Client] = None,
    ) -> None:
        """
        `base_url` is the address of the gateway, such as `https://mail.example.com`, without a
        password. `token` is an API key or the token of a session. `workspace_id` is the workspace
        of calls that name none. `timeout` is in seconds, up to a day, for each wait of an attempt
        and for reading its whole answer. `retries` counts attempts after the first one, 0 to 100.
        `answer_max_bytes` is for an answer that is read whole and for a line of an export; an
        export itself has no limit. `http_client` has proxies and certificates of your own, and is
        yours to close. Raises a `ValueError` for an option that cannot work.
        """
        self._client = http_client or httpx.Client()
        self._owns_client = http_client is None
        settings = Settings(base_url, token, workspace_id, timeout, retries, answer_max_bytes)
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
        answer_max_bytes: int = _ANSWER_MAX_BYTES,
        http_client: Optional[httpx.AsyncClient] = None,
    ) -> None:
        """As `Postrider`, for `asyncio`."""
        self._client = http_client or httpx.AsyncClient()
        self._owns_client = http_client is None
        settings = Settings(base_url, token, workspace_id, timeout, retries, answer_max_bytes)
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
