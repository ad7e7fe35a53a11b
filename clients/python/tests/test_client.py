"""The client against a server that answers as each test says."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, NamedTuple, Optional
from urllib.parse import parse_qs, urlsplit

import httpx

import postrider
from postrider import AsyncPostrider, Postrider


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
