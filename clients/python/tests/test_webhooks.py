"""Verification of webhooks, with signatures made as the standard says."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import unittest
from typing import Any, Dict

from postrider import PostriderError, SignatureError, verify_webhook

SECRET = "whsec_" + base64.b64encode(bytes([1]) * 32).decode()
NEWER = "whsec_" + base64.b64encode(bytes([2]) * 32).decode()
EVENT = {"id": "d1", "type": "contact.created", "data": {"email": "jörg@example.com"}}
BODY = json.dumps(EVENT, ensure_ascii=False).encode()


def headers_of(
    secret: str = SECRET, seconds_ago: int = 0, timestamp: str = ""
) -> Dict[str, str]:
    timestamp = timestamp or str(int(time.time()) - seconds_ago)
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

    def test_a_secret_that_is_empty_or_missing_is_an_error_and_proves_nothing(self) -> None:
        wrong: Any
        for wrong in ["", "whsec_", None, [], [SECRET, ""], [None], "whsec_*", "whsec_ö"]:
            for headers in [headers_of("whsec_"), headers_of()]:
                with self.subTest(wrong), self.assertRaisesRegex(PostriderError, "secret") as failed:
                    verify_webhook(BODY, headers, wrong)
                self.assertNotIsInstance(failed.exception, SignatureError)

    def test_a_body_may_be_any_bytes_and_no_parsed_json(self) -> None:
        body: Any
        for body in [bytearray(BODY), memoryview(BODY)]:
            self.assertEqual(verify_webhook(body, headers_of(), SECRET), EVENT)
        for body in [EVENT, None, [1]]:
            with self.subTest(body), self.assertRaisesRegex(PostriderError, "body") as failed:
                verify_webhook(body, headers_of(), SECRET)
            self.assertNotIsInstance(failed.exception, SignatureError)

    def test_a_secret_may_have_no_prefix_and_a_line_break_behind_it(self) -> None:
        for secret in [SECRET + "\n", SECRET[len("whsec_") :]]:
            self.assertEqual(verify_webhook(BODY, headers_of(), secret), EVENT)

    def test_an_absurd_timestamp_is_refused_whatever_the_tolerance(self) -> None:
        for timestamp in [" ", "-1", "inf", "9" * 400, "9" * 5_000, "1e9", "١٢"]:
            headers = headers_of(timestamp=timestamp)
            with self.subTest(timestamp[:9]), self.assertRaises(SignatureError):
                verify_webhook(BODY, headers, SECRET, tolerance=float("inf"))
        with self.assertRaises(SignatureError):
            verify_webhook(BODY, headers_of(seconds_ago=360), SECRET, tolerance=float("nan"))


if __name__ == "__main__":
    unittest.main()
