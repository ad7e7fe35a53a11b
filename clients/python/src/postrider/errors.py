"""Failures of calls, as classes."""

from __future__ import annotations

import json
import math
import re
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
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
        status = f"{answer.status_code} {answer.reason_phrase}".strip()
        super().__init__(_text_of(body.get("error")) or status)
        self.status = answer.status_code
        self.code = _text_of(body.get("code")) or ""
        self.reason = _text_of(body.get("reason"))
        self.request_id = _text_of(body.get("request_id")) or answer.headers.get("x-request-id")
        details = body.get("details")
        found = details if isinstance(details, list) else []
        self.fields = [each for each in found if _is_field_error(each)]
        self.retry_after = _seconds_of(answer.headers.get("retry-after", ""))


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


def _text_of(value: object) -> Optional[str]:
    """A proxy may have made the body."""
    return value if isinstance(value, str) and value else None


def _is_field_error(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("field"), str)
        and isinstance(value.get("description"), str)
    )


def _seconds_of(retry_after: str) -> Optional[int]:
    """`Retry-After` is a number of seconds, or a date such as `Fri, 27 Nov 2026 10:00:00 GMT`."""
    if re.fullmatch("[0-9]{1,10}", retry_after):
        return int(retry_after)
    if not re.match("[A-Za-z]", retry_after):
        return None
    try:
        at = parsedate_to_datetime(retry_after)
    except (TypeError, ValueError):
        return None
    zoned = at if at.tzinfo else at.replace(tzinfo=timezone.utc)
    return max(0, math.ceil((zoned - datetime.now(timezone.utc)).total_seconds()))


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
