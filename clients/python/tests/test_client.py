"""The client against a server that answers as each test says."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import time
import traceback
import unittest
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, NamedTuple, Optional
from urllib.parse import parse_qs, urlsplit

import httpx

import postrider
from postrider import AsyncPostrider, Postrider
from postrider._http import Call, Operation


class Received(NamedTuple):
    path: str
    query: Dict[str, List[str]]
    headers: Dict[str, str]
    body: bytes


Answer = Callable[["Handler", int], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def send(self, status: int, body: object, headers: Optional[Dict[str, str]] = None) -> None:
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**(headers or {}), "content-length": str(len(text))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def send_parts(self, parts: List[bytes], ends: bool = True) -> None:
        """In chunks of HTTP; `ends` says whether the last one comes."""
        self.send_response(200)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for part in parts:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.flush()
        if ends:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = not ends

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _answer(self) -> None:
        url = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        received = Received(url.path, parse_qs(url.query), headers, self._body())
        self.server.received.append(received)
        self.server.answer(self, len(self.server.received))

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", "0")))
        body = b""
        while size := int(self.rfile.readline() or b"0", 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.received: List[Received] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves an answer is no failure."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


def break_off(handler: Handler) -> None:
    handler.close_connection = True


LIST: postrider.types.CreateListRequest = {"id": "readers", "name": "Readers"}


class ClientTest(unittest.TestCase):
    def given(self, answer: Answer) -> Server:
        server = Server(answer)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def client(self, server: Server, **options: Any) -> Postrider:
        client = Postrider(server.address, token="key", workspace_id="demo", **options)
        self.addCleanup(client.close)
        return client

    def made(self, **options: Any) -> Any:
        return Postrider(**options)

    def test_a_read_sends_its_fields_as_the_query_with_the_workspace_of_the_client(self) -> None:
        server = self.given(lambda handler, _: handler.send(200, {}))
        self.client(server).contacts.list(segments=["a", "b"], limit=10, with_contact_lists=True)
        [received] = server.received
        self.assertEqual(received.path, "/api/contacts.list")
        self.assertEqual(
            received.query,
            {
                "workspace_id": ["demo"],
                "segments": ["a", "b"],
                "limit": ["10"],
                "with_contact_lists": ["true"],
            },
        )
        self.assertEqual(received.headers["authorization"], "Bearer key")

    def test_a_field_with_the_name_of_a_word_of_python_has_an_underscore_here_alone(self) -> None:
        server = self.given(lambda handler, _: handler.send(200, {}))
        self.client(server).templates.compare_versions(id="letter", from_=1, to=2)
        self.assertEqual(server.received[0].query["from"], ["1"])

    def test_a_call_that_takes_a_key_is_repeated_under_the_same_one_after_a_503(self) -> None:
        server = self.given(
            lambda handler, attempt: (
                handler.send(503, {}) if attempt < 3 else handler.send(201, {"list": LIST})
            )
        )
        answer = self.client(server).lists.create(**LIST)
        self.assertEqual(answer["list"]["id"], "readers")
        keys = {received.headers["idempotency-key"] for received in server.received}
        self.assertEqual((len(server.received), len(keys)), (3, 1))
        self.assertEqual(json.loads(server.received[2].body), {"workspace_id": "demo", **LIST})

    def test_a_caller_may_give_the_key(self) -> None:
        server = self.given(lambda handler, _: handler.send(201, {}))
        self.client(server).lists.create(**LIST, options={"idempotency_key": "order-17"})
        self.assertEqual(server.received[0].headers["idempotency-key"], "order-17")

    def test_a_call_without_a_key_that_may_have_been_done_is_not_repeated(self) -> None:
        server = self.given(lambda handler, _: break_off(handler))
        with self.assertRaises(postrider.TransportError):
            self.client(server).lists.update(**LIST)
        self.assertEqual(len(server.received), 1)

    def test_a_call_without_a_key_that_was_refused_for_its_rate_is_repeated(self) -> None:
        server = self.given(
            lambda handler, attempt: (
                handler.send(429, {"error": "slow down"}, {"retry-after": "0"})
                if attempt == 1
                else handler.send(200, {})
            )
        )
        self.client(server).lists.update(**LIST)
        self.assertEqual(len(server.received), 2)

    def test_nobody_waits_for_minutes_where_a_server_asks_for_that(self) -> None:
        server = self.given(
            lambda handler, _: handler.send(429, {"error": "quota"}, {"retry-after": "3600"})
        )
        with self.assertRaises(postrider.RateLimitError) as failed:
            self.client(server).lists.list()
        self.assertEqual(failed.exception.retry_after, 3600)
        self.assertEqual(len(server.received), 1)

    def test_a_read_is_repeated_when_its_connection_breaks(self) -> None:
        server = self.given(
            lambda handler, attempt: (
                break_off(handler) if attempt == 1 else handler.send(200, {"lists": []})
            )
        )
        self.assertEqual(self.client(server).lists.list(), {"lists": []})

    def test_an_error_says_which_field_is_at_fault(self) -> None:
        details = [{"field": "id", "description": "too long"}]
        body = {"error": "id: too long", "code": "invalid_argument", "reason": "R"}
        body = {**body, "request_id": "r1", "details": details}  # type: ignore[dict-item]
        server = self.given(lambda handler, _: handler.send(400, body))
        with self.assertRaisesRegex(postrider.InvalidRequestError, "id: too long") as failed:
            self.client(server).lists.create(**LIST)
        error = failed.exception
        self.assertEqual(
            (error.status, error.code, error.reason, error.request_id, error.fields),
            (400, "invalid_argument", "R", "r1", details),
        )

    def test_the_answer_of_a_proxy_is_an_error_as_well(self) -> None:
        server = self.given(lambda handler, _: handler.send(404, b"<h1>no</h1>"))
        with self.assertRaisesRegex(postrider.NotFoundError, "404 Not Found"):
            self.client(server).lists.get(id="a")

    def test_a_page_of_a_proxy_with_status_200_is_no_answer(self) -> None:
        server = self.given(lambda handler, _: handler.send(200, b"<h1>sign in</h1>"))
        with self.assertRaisesRegex(postrider.TransportError, "not JSON"):
            self.client(server, retries=0).lists.list()

    def test_a_500_is_not_repeated(self) -> None:
        server = self.given(lambda handler, _: handler.send(500, {}))
        with self.assertRaises(postrider.ServerError):
            self.client(server).lists.list()
        self.assertEqual(len(server.received), 1)

    def test_an_answer_that_does_not_come_ends_with_a_time_out(self) -> None:
        ended = threading.Event()
        self.addCleanup(ended.set)
        server = self.given(lambda *_: None if ended.wait(10) else None)
        with self.assertRaises(postrider.TimedOutError):
            self.client(server, timeout=0.05, retries=0).lists.list()

    def test_a_body_that_comes_byte_by_byte_ends_with_a_time_out(self) -> None:
        ended = threading.Event()
        self.addCleanup(ended.set)

        def drip(handler: Handler, _: int) -> None:
            handler.send_response(200)
            handler.send_header("content-length", "100000")
            handler.end_headers()
            while not ended.wait(0.01):
                handler.wfile.write(b" ")

        server = self.given(drip)
        with self.assertRaises(postrider.TimedOutError):
            self.client(server, timeout=0.2, retries=0).lists.list()

    def test_all_pages_come_one_by_one_each_with_the_cursor_of_the_one_before(self) -> None:
        server = self.given(send_page)
        found = [each["email"] for each in self.client(server).contacts.list_all(limit=2)]
        self.assertEqual(found, ["a", "b", "c"])
        self.assertEqual([each.query["limit"] for each in server.received], [["2"]] * 3)

    def test_an_export_gives_each_line_also_where_parts_end_in_the_middle_of_a_letter(self) -> None:
        server = self.given(send_lines)
        lines = self.client(server).lists.export(list_id="a")
        self.assertEqual([each["contact"]["first_name"] for each in lines], ["Jörg", "Ada"])

    def test_an_export_that_is_cut_fails(self) -> None:
        server = self.given(lambda handler, _: handler.send_parts([b'{"contact":{}}\n'], ends=False))
        lines = self.client(server).lists.export(list_id="a")
        self.assertEqual(next(lines), {"contact": {}})
        with self.assertRaises(postrider.TransportError):
            next(lines)
        self.assertEqual(len(server.received), 1)

    def test_an_export_as_csv_asks_for_it(self) -> None:
        server = self.given(lambda handler, _: handler.send_parts([b"email\r\n", b"a\r\n"]))
        parts = self.client(server).lists.export_csv(list_id="a")
        self.assertEqual(b"".join(parts), b"email\r\na\r\n")
        self.assertEqual(server.received[0].query["format"], ["csv"])

    def test_a_csv_file_is_sent_once_from_where_it_is(self) -> None:
        server = self.given(lambda handler, _: handler.send(503, {}))
        file = io.BytesIO(b"skipped email\n" + b"a@example.com\n" * 10_000)
        file.seek(8)
        with self.assertRaises(postrider.ServerError):
            self.client(server).contacts.import_csv(file, lists=["readers"])
        [received] = server.received
        self.assertEqual(received.body, file.getvalue()[8:])
        self.assertEqual(received.headers["content-type"], "text/csv")
        self.assertEqual(received.query["lists"], ["readers"])

    def test_a_file_of_text_is_refused_before_it_is_sent(self) -> None:
        server = self.given(lambda handler, _: handler.send(200, {}))
        with self.assertRaisesRegex(TypeError, "binary mode"):
            self.client(server).contacts.import_csv(io.StringIO("email\n"))  # type: ignore[arg-type]

    def test_options_that_are_no_limit_are_refused_for_a_client_and_for_a_call(self) -> None:
        server = self.given(lambda handler, attempt: handler.send(503 if attempt < 3 else 400, {}))
        nan, infinity = float("nan"), float("inf")
        for name, value in [
            ("retries", nan),
            ("retries", infinity),
            ("retries", -1),
            ("timeout", nan),
            ("timeout", infinity),
            ("timeout", 0),
            ("timeout", None),
            ("answer_max_bytes", nan),
            ("answer_max_bytes", 0),
        ]:
            with self.subTest(name=name, value=value):
                with self.assertRaisesRegex(ValueError, name):
                    self.client(server, **{name: value})
                client: Any = self.client(server)
                if name != "answer_max_bytes":
                    with self.assertRaisesRegex(ValueError, name):
                        client.lists.list(options={name: value})
        self.assertEqual(server.received, [])

    def test_the_wait_before_an_attempt_grows_up_to_a_minute_and_a_half(self) -> None:
        call = Call(Operation("GET", "/"), {}, timeout=1, retries=200, answer_max_bytes=1)
        error = postrider.TransportError("cut")
        waits = [call.wait_after(attempt, error) or 0 for attempt in (0, 4, 9, 20, 100)]
        self.assertLessEqual(waits[0], 0.3)
        self.assertGreaterEqual(waits[1], 1.6)
        self.assertGreaterEqual(min(waits[2:]), 30)
        self.assertLessEqual(max(waits), 90)

    def test_what_cannot_be_sent_is_refused_at_once_and_not_shown(self) -> None:
        for name, options in [
            ("token", {"token": "key\n4f1d"}),
            ("token", {"token": "4f1d…"}),
            ("base_url", {"base_url": "http://ops:4f1d@127.0.0.1:1"}),
            ("base_url", {"base_url": "4f1d:3000"}),
            ("base_url", {"base_url": "4f1d"}),
            ("base_url", {"base_url": "http://4f1d:x"}),
            ("base_url", {"base_url": "http://"}),
        ]:
            with self.subTest(options):
                with self.assertRaisesRegex(ValueError, name) as failed:
                    self.made(**{"base_url": "http://127.0.0.1:1", "token": "key", **options})
                shown = traceback.format_exception_only(ValueError, failed.exception)
                self.assertNotIn("4f1d", "".join(shown))
                self.assertIsNone(failed.exception.__cause__)

    def test_an_idempotency_key_that_no_header_can_have_is_refused(self) -> None:
        server = self.given(lambda handler, _: handler.send(201, {}))
        with self.assertRaisesRegex(ValueError, "idempotency_key"):
            self.client(server).lists.create(**LIST, options={"idempotency_key": "order\n17"})
        self.assertEqual(server.received, [])

    def test_a_workspace_of_none_is_that_of_the_client(self) -> None:
        server = self.given(lambda handler, _: handler.send(200, {}))
        client: Any = self.client(server)
        client.lists.list(workspace_id=None)
        client.lists.update(**LIST, workspace_id=None)
        self.assertEqual(server.received[0].query["workspace_id"], ["demo"])
        self.assertEqual(json.loads(server.received[1].body)["workspace_id"], "demo")

    def test_a_redirect_is_not_followed_so_that_no_write_becomes_a_read(self) -> None:
        server = self.given(lambda handler, _: handler.send(302, {}, {"location": "/elsewhere"}))
        with self.assertRaisesRegex(postrider.PostriderError, "redirected") as failed:
            self.client(server).lists.create(**LIST)
        self.assertNotIsInstance(failed.exception, postrider.ApiError)
        self.assertEqual(len(server.received), 1)

    def test_a_call_whose_first_attempt_still_runs_is_repeated(self) -> None:
        running = {"error": "it is running", "reason": "IDEMPOTENCY_KEY_IN_USE"}
        server = self.given(
            lambda handler, attempt: (
                handler.send(409, running) if attempt == 1 else handler.send(201, {"list": LIST})
            )
        )
        self.assertEqual(self.client(server).lists.create(**LIST), {"list": LIST})

    def test_retry_after_is_a_number_or_a_date_and_what_is_neither_is_none(self) -> None:
        date = format_datetime(datetime.now(timezone.utc) + timedelta(hours=1), usegmt=True)
        for text, least, most in [
            (date, 3_500, 3_600),
            ("Fri, 27 Nov 2020 10:00:00 GMT", 0, 0),
            ("7", 7, 7),
            ("-5", None, None),
            ("3 soon", None, None),
            ("Fri, 99 Nov 2020 10:00:00 GMT", None, None),
            ("9" * 5_000, None, None),
        ]:
            with self.subTest(text[:30]):
                server = self.given(
                    lambda handler, _, text=text: handler.send(  # type: ignore[misc]
                        429, {}, {"retry-after": text}
                    )
                )
                with self.assertRaises(postrider.RateLimitError) as failed:
                    self.client(server, retries=0).lists.list()
                seconds = failed.exception.retry_after
                if least is None or most is None:
                    self.assertIsNone(seconds)
                else:
                    self.assertIsNotNone(seconds)
                    self.assertTrue(least <= (seconds or 0) <= most, seconds)

    def test_a_cursor_that_comes_again_is_an_error_and_no_loop(self) -> None:
        page = {"contacts": [{"email": "a"}], "next_cursor": "two"}
        server = self.given(
            lambda handler, attempt: handler.send(200 if attempt < 6 else 400, page)
        )
        with self.assertRaisesRegex(postrider.PostriderError, "two pages have the same cursor"):
            list(self.client(server).contacts.list_all())
        self.assertEqual(len(server.received), 2)

    def test_the_body_of_an_error_may_be_anything(self) -> None:
        wrong = {"error": {"a": 1}, "code": 7, "reason": [], "request_id": {}, "details": "no"}
        for body in [wrong, ["no"], None, {"error": 5, "details": [None, {"field": 3}]}]:
            with self.subTest(body):
                server = self.given(
                    lambda handler, _, body=body: handler.send(422, body)  # type: ignore[misc]
                )
                with self.assertRaises(postrider.InvalidRequestError) as failed:
                    self.client(server).lists.list()
                error = failed.exception
                self.assertRegex(str(error), "^422 Unprocessable")
                self.assertEqual(
                    (error.code, error.reason, error.request_id, error.fields),
                    ("", None, None, []),
                )

    def test_dates_are_sent_as_the_api_writes_them(self) -> None:
        server = self.given(lambda handler, _: handler.send(200, {}))
        client: Any = self.client(server)
        at = datetime(2026, 11, 27, 12, 0, 0, 250_000, timezone(timedelta(hours=2)))
        client.contacts.list(created_after=[at, at])
        client.lists.create(**LIST, at=at)
        written = "2026-11-27T10:00:00.250000Z"
        self.assertEqual(server.received[0].query["created_after"], [written, written])
        self.assertEqual(json.loads(server.received[1].body)["at"], written)

    def test_what_json_and_queries_cannot_say_is_refused_before_it_is_sent(self) -> None:
        server = self.given(lambda handler, _: handler.send(200, {}))
        client: Any = self.client(server)
        naive = datetime(2026, 11, 27)
        for value in [float("nan"), float("inf"), naive, object()]:
            with self.subTest(value):
                with self.assertRaisesRegex((ValueError, TypeError), "limit"):
                    client.contacts.list(limit=value)
                with self.assertRaisesRegex((ValueError, TypeError), "a.limit"):
                    client.lists.create(**LIST, a={"limit": [value]})
        with self.assertRaisesRegex(TypeError, "limit"):
            client.contacts.list(limit={"a": 1})
        self.assertEqual(server.received, [])

    def test_an_answer_and_a_line_of_an_export_have_a_limit(self) -> None:
        server = self.given(lambda handler, _: handler.send_parts([b"x" * 60_000] * 5))
        client = self.client(server, answer_max_bytes=100_000)
        with self.assertRaisesRegex(postrider.PostriderError, "more than 100000 bytes") as failed:
            client.lists.list()
        self.assertNotIsInstance(failed.exception, postrider.TransportError)
        with self.assertRaisesRegex(postrider.PostriderError, "more than 100000 bytes"):
            list(client.lists.export(list_id="a"))
        self.assertEqual(len(server.received), 2)

    def test_an_error_without_an_end_is_an_error(self) -> None:
        def endless(handler: Handler, _: int) -> None:
            handler.send_response(404)
            handler.send_header("content-length", str(10**12))
            handler.end_headers()
            while True:
                handler.wfile.write(b"x" * 65_536)

        server = self.given(endless)
        with self.assertRaises(postrider.NotFoundError):
            self.client(server, timeout=20).lists.get(id="a")

    def test_a_csv_file_comes_in_parts_of_any_size_and_kind(self) -> None:
        server = self.given(lambda handler, _: handler.send(200, {}))
        rows = [b"email\n", b"", b"ada@example.com\n"]
        sources: List[Any] = [iter(rows), rows, bytearray(b"".join(rows)), b"".join(rows).decode()]
        for source in sources:
            self.client(server).contacts.import_csv(source)
        self.assertEqual([each.body for each in server.received], [b"".join(rows)] * len(sources))

    def test_a_client_of_the_caller_stays_open(self) -> None:
        server = self.given(lambda handler, _: handler.send(200, {"lists": []}))
        with httpx.Client() as http_client:
            with Postrider(server.address, http_client=http_client) as client:
                client.lists.list()
            self.assertFalse(http_client.is_closed)


class AsyncClientTest(ClientTest):
    """The same calls by `asyncio`: each method of the client runs to its end."""

    def client(self, server: Server, **options: Any) -> Any:
        client = AsyncPostrider(server.address, token="key", workspace_id="demo", **options)
        loop = asyncio.new_event_loop()
        self.addCleanup(loop.close)
        self.addCleanup(lambda: loop.run_until_complete(client.close()))
        return Run(client, loop)

    def made(self, **options: Any) -> Any:
        return AsyncPostrider(**options)

    def test_a_client_of_the_caller_stays_open(self) -> None:
        server = self.given(lambda handler, _: handler.send(200, {"lists": []}))
        async def program() -> bool:
            async with httpx.AsyncClient() as http_client:
                async with AsyncPostrider(server.address, http_client=http_client) as client:
                    await client.lists.list()
                return http_client.is_closed

        self.assertFalse(asyncio.run(program()))

    def test_a_task_that_is_cancelled_ends_its_call_and_its_wait(self) -> None:
        server = self.given(lambda handler, _: handler.send(503, {}, {"retry-after": "30"}))

        async def program() -> float:
            async with AsyncPostrider(server.address) as client:
                began = time.monotonic()
                call = asyncio.ensure_future(client.lists.list())
                while not server.received:
                    await asyncio.sleep(0.005)
                call.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await call
                return time.monotonic() - began

        self.assertLess(asyncio.run(program()), 10)


class Run:
    """An asynchronous object as a synchronous one."""

    def __init__(self, inner: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._inner = inner
        self._loop = loop

    def __getattr__(self, name: str) -> "Run":
        return Run(getattr(self._inner, name), self._loop)

    def __call__(self, *values: Any, **named: Any) -> Any:
        result = self._inner(*values, **named)
        if hasattr(result, "__await__"):
            return self._loop.run_until_complete(result)
        return self._all(result)

    def _all(self, items: Any) -> Any:
        while True:
            try:
                yield self._loop.run_until_complete(items.__anext__())
            except StopAsyncIteration:
                return


def send_page(handler: Handler, _: int) -> None:
    pages: Dict[str, object] = {
        "": {"contacts": [{"email": "a"}, {"email": "b"}], "next_cursor": "two"},
        "two": {"contacts": [], "next_cursor": "three"},
        "three": {"contacts": [{"email": "c"}]},
    }
    cursor = handler.server.received[-1].query.get("cursor", [""])[0]
    handler.send(200, pages[cursor])


def send_lines(handler: Handler, _: int) -> None:
    lines = '{"contact":{"first_name":"Jörg"}}\n{"contact":{"first_name":"Ada"}}\n'.encode()
    handler.send_parts([bytes([byte]) for byte in lines])


if __name__ == "__main__":
    unittest.main()
