"""The client of Postrider: transactional mail, newsletters and broadcasts."""

from ._http import RequestOptions
from ._version import __version__
from .csv_import import CsvImportSummary
from .errors import (
    ApiError,
    AuthenticationError,
    ConflictError,
    FieldError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    PostriderError,
    RateLimitError,
    ServerError,
    TimedOutError,
    TransportError,
)
from .made import types
from .made.client import AsyncPostrider, Postrider
from .made.events import WebhookEvent
from .webhooks import SignatureError, verify_webhook

__all__ = [
    "ApiError",
    "AsyncPostrider",
    "AuthenticationError",
    "ConflictError",
    "CsvImportSummary",
    "FieldError",
    "InvalidRequestError",
    "NotFoundError",
    "PermissionDeniedError",
    "Postrider",
    "PostriderError",
    "RateLimitError",
    "RequestOptions",
    "ServerError",
    "SignatureError",
    "TimedOutError",
    "TransportError",
    "WebhookEvent",
    "__version__",
    "types",
    "verify_webhook",
]
