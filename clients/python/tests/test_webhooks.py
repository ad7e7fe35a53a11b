"""Verification of webhooks, with signatures made as the standard says."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import unittest
from typing import Dict

from postrider import SignatureError, verify_webhook

SECRET = "whsec_" + base64.b64encode(bytes([1]) * 32).decode()
NEWER = "whsec_" + base64.b64encode(bytes([2]) * 32).decode()
EVENT = {"id": "d1", "type": "contact.created", "data": {"email": "jörg@example.com"}}
BODY = json.dumps(EVENT, ensure_ascii=False).encode()


def headers_of(secret: str = SECRET, seconds_ago: int = 0) -> Dict[str, str]:
    timestamp = str(int(time.time()) - seconds_ago)
    key = base64.b64decode(secret[len("whsec_") :])
    signature = hmac.new(key, f"d1.{timestamp}.".encode() + BODY, hashlib.sha256).digest()
    return {
        "Webhook-Id": "d1",
        "Webhook-Timestamp": timestamp,
        "Webhook-Signature": "v1a,other v1," + base64.b64encode(signature).decode(),
    }


class WebhooksTest(unittest.TestCase):
    def test_the_event_of_a_signed_delivery_is_given(self) -> None:
        self.assertEqual(verify_webhook(BODY, headers_of(), SECRET), EVENT)
        self.assertEqual(verify_webhook(BODY.decode(), headers_of(), SECRET)["id"], "d1")

    def test_either_of_two_secrets_may_have_signed_it(self) -> None:
        event = verify_webhook(BODY, headers_of(NEWER), [SECRET, NEWER])
        self.assertEqual(event["type"], "contact.created")

    def test_anything_else_is_refused(self) -> None:
        right = headers_of()
        unsigned = {name: value for name, value in right.items() if name != "Webhook-Signature"}
        for kind, body, headers in [
            ("another body", BODY + b" ", right),
            ("another id", BODY, {**right, "Webhook-Id": "d2"}),
            ("another secret", BODY, headers_of(NEWER)),
            ("an old timestamp", BODY, headers_of(seconds_ago=360)),
            ("a timestamp of the future", BODY, headers_of(seconds_ago=-360)),
            ("no timestamp", BODY, {**right, "Webhook-Timestamp": "x"}),
            ("no signature", BODY, unsigned),
            ("no base64", BODY, {**right, "Webhook-Signature": "v1,*"}),
            ("letters beyond ASCII", BODY, {**right, "Webhook-Signature": "v1,ö"}),
        ]:
            with self.subTest(kind), self.assertRaises(SignatureError):
                verify_webhook(body, headers, SECRET)


if __name__ == "__main__":
    unittest.main()
