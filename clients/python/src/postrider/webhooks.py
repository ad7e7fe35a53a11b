"""Verification of webhooks (Standard Webhooks, HMAC-SHA256)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import math
import re
import time
from typing import List, Mapping, Sequence, Union, cast

from .errors import PostriderError
from .made.events import WebhookEvent

_PREFIX = "whsec_"


class SignatureError(PostriderError):
    """The signature of a webhook is missing, old or wrong: answer 401, and use nothing of it."""


def verify_webhook(
    body: Union[bytes, bytearray, memoryview, str],
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    *,
    tolerance: float = 300,
) -> WebhookEvent:
    """
    The event of a delivery, once its signature is proven. The `id` of an event is the same in each
    attempt.

    `body` is what came, before any JSON is read. `headers` may have names in any case. `secret` is
    `whsec_…` of the subscription; both while one is being replaced. `tolerance` is how many seconds
    the clocks may differ. Raises a `PostriderError` for a secret that is empty or missing, and for
    a body that was parsed before.
    """
    keys = [_key_of(each) for each in ([secret] if isinstance(secret, str) else secret or [])]
    if not keys:
        raise PostriderError("no secret is given")
    content = _bytes_of(body)
    named = {name.lower(): value for name, value in headers.items()}
    id, timestamp = _header_of(named, "webhook-id"), _header_of(named, "webhook-timestamp")
    seconds = int(timestamp) if re.fullmatch("[0-9]{1,12}", timestamp) else math.nan
    if not abs(time.time() - seconds) <= tolerance:
        raise SignatureError("webhook-timestamp is too far from now")
    signed = f"{id}.{timestamp}.".encode() + content
    given = _signatures_of(_header_of(named, "webhook-signature"))
    for key in keys:
        right = hmac.new(key, signed, hashlib.sha256).digest()
        # Compares all of them: the time says nothing about the signature.
        if any([hmac.compare_digest(right, signature) for signature in given]):
            return cast(WebhookEvent, json.loads(content))
    raise SignatureError("webhook-signature is wrong")


def _header_of(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not isinstance(value, str):
        raise SignatureError(f"{name} is missing")
    return value


def _signatures_of(text: str) -> List[bytes]:
    """`v1,` and base64; other versions are for later."""
    found = []
    for each in text.split(" "):
        version, _, signature = each.partition(",")
        if version == "v1":
            try:
                found.append(base64.b64decode(signature, validate=True))
            except ValueError:
                continue
    return found


def _bytes_of(body: object) -> bytes:
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    raise PostriderError("body has to be the bytes or the text of the request, not parsed JSON")


def _key_of(secret: object) -> bytes:
    """With an empty key anybody could sign."""
    text = secret.strip() if isinstance(secret, str) else ""
    text = text[len(_PREFIX) :] if text.startswith(_PREFIX) else text
    try:
        key = base64.b64decode(text, validate=True)
    except ValueError:
        key = b""
    if not key:
        raise PostriderError("a secret is empty or not base64")
    return key
