"""Failures of calls, as classes."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Type, TypedDict

import httpx


class FieldError(TypedDict):
    """One field at fault."""

    field: str
    """Its path, such as `contact.phone`; empty for the body itself."""

    description: str
    """The fault, for people."""


class PostriderError(Exception):
    """Any failure of a call."""


class TransportError(PostriderError):
    """No answer came: the server cannot be reached, or the connection broke."""


class TimedOutError(TransportError):
    """The answer took longer than `timeout`. The operation may have been done."""


class ApiError(PostriderError):
    """An answer other than 2xx."""

    status: int
    code: str
    """Stable, for programs, such as `not_found`; empty where a proxy answered."""
    reason: Optional[str]
    """Why, more exactly than the code; `/docs/errors` of a gateway lists them."""
    request_id: Optional[str]
    """For the operators' logs."""
    fields: List[FieldError]
    """The fields at fault, if any are."""
    retry_after: Optional[int]
    """Seconds after which the server asks to try again."""

    def __init__(self, answer: httpx.Response, body: Dict[str, Any]) -> None:
        super().__init__(body.get("error") or f"{answer.status_code} {answer.reason_phrase}".strip())
        self.status = answer.status_code
        self.code = body.get("code") or ""
        self.reason = body.get("reason")
        self.request_id = body.get("request_id") or answer.headers.get("x-request-id")
        self.fields = body.get("details") or []
        seconds = answer.headers.get("retry-after", "")
        self.retry_after = int(seconds) if seconds.isdecimal() else None


class InvalidRequestError(ApiError):
    """400, 413, 415 and the like: the request has to change. `fields` says where."""


class AuthenticationError(ApiError):
    """401: the token is missing, invalid, expired or revoked."""


class PermissionDeniedError(ApiError):
    """403: the token may not do this in this workspace."""


class NotFoundError(ApiError):
    """404."""


class ConflictError(ApiError):
    """409: it exists already, or another request changed it at the same time."""


class RateLimitError(ApiError):
    """429: too many calls, or a quota is used up."""


class ServerError(ApiError):
    """5xx: a fault of the server, or it is overloaded."""


_BY_STATUS: Dict[int, Type[ApiError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}


def error_of(answer: httpx.Response, text: bytes) -> ApiError:
    """The error of an answer, whose body has been read."""
    try:
        body = json.loads(text)
    except ValueError:
        body = {}
    other = ServerError if answer.status_code >= 500 else InvalidRequestError
    kind = _BY_STATUS.get(answer.status_code, other)
    return kind(answer, body if isinstance(body, dict) else {})
