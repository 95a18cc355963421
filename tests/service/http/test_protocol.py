"""Connections as an attacker opens them: halves of requests, floods, nonsense."""

from __future__ import annotations

import asyncio
import errno
import http.client
import json
import logging
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from i2cansay.service.http import listener
from i2cansay.service.http.connections import Connections
from i2cansay.service.http.listener import Listener, bind
from i2cansay.service.http.protocol import PIECE
from i2cansay.service.limits import Limits
from i2cansay.service.service_metrics import ServiceMetrics
from tests.service.running import Running, Starter
from tests.service.sending import send

HALF = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
WHOLE = HALF + b"\r\n"
BODY = b"POST /v1/models HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{"


@contextmanager
def connected(running: Running, *pieces: bytes) -> Iterator[socket.socket]:
    """Connect and send something."""
    parts = urlsplit(running.client.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
        for piece in pieces:
            connection.sendall(piece)
        yield connection


def answer_of(connection: socket.socket) -> tuple[int, dict[str, str], Any]:
    """Read an answer in JSON."""
    response = http.client.HTTPResponse(connection)
    response.begin()
    content = json.loads(response.read())
    return response.status, dict(response.headers), content


def read_until(connection: socket.socket, end: bytes) -> bytes:
    """Read until something has come."""
    received = b""
    while not received.endswith(end):
        received += connection.recv(10_000)
    return received


def ended(connection: socket.socket) -> bool:
    """Wait until the other side has closed, without a word."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_what_is_used_of_uvicorn_is_there() -> None:
    for name in (
        "connection_lost",
        "data_received",
        "handle_events",
        "on_response_complete",
        "pause_writing",
        "resume_writing",
        "send_400_response",
    ):
        assert callable(getattr(H11Protocol, name)), name
    names = RequestResponseCycle.__init__.__code__.co_names
    assert {"more_body", "response_started", "response_complete"} <= set(names)
    # What `conn.send` returns is what is written: the head of an answer is kept there.
    assert {"conn", "transport", "write"} <= set(RequestResponseCycle.send.__code__.co_names)


# -- time ---------------------------------------------------------------------------------------------------


def test_headers_that_do_not_end_are_given_up_although_they_drip(start: Starter) -> None:
    running = start(limits=Limits(header_seconds=0.5))
    with connected(running, HALF) as connection:
        connection.settimeout(0.05)
        for _ in range(400):  # far longer than that
            try:
                connection.sendall(b"x-drip: 1\r\n")
                connection.recv(1, socket.MSG_PEEK)
                break
            except TimeoutError:
                continue
        status, headers, content = answer_of(connection)
    assert (status, content["code"], headers["connection"]) == (408, "timeout", "close")


def test_the_second_request_of_a_connection_has_no_more_time(start: Starter) -> None:
    running = start(limits=Limits(header_seconds=0.5))
    with connected(running, WHOLE) as connection:
        assert answer_of(connection)[0] == 200
        connection.sendall(HALF)
        assert answer_of(connection)[0] == 408
        assert ended(connection)


def test_a_connection_that_says_nothing_is_closed_without_a_word(start: Starter) -> None:
    running = start(limits=Limits(header_seconds=0.3, idle_seconds=0.5))
    with connected(running) as connection:
        assert ended(connection)
    with connected(running, WHOLE) as connection:
        assert answer_of(connection)[0] == 200
        assert ended(connection)


# -- room ---------------------------------------------------------------------------------------------------


CHUNKED = b"POST /v1/models HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("path", [b"/v1/models", b"/nowhere"])
def test_a_body_in_thousands_of_tiny_chunks_is_refused(start: Starter, path: bytes) -> None:
    """Four connections of them kept others waiting for 24 seconds, also where nobody read the body."""
    with connected(start(), CHUNKED.replace(b"/v1/models", path)) as connection:
        if path == b"/nowhere":
            assert answer_of(connection)[0] == 404
        connection.sendall(b"1\r\n \r\n" * 900)
        connection.settimeout(0.3)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        connection.settimeout(20)
        connection.sendall(b"1\r\n \r\n" * 101)
        status, _, content = answer_of(connection)
        assert (status, content["code"]) == (400, "tiny_chunks")
        assert ended(connection)


def test_chunks_of_a_usual_size_are_welcome(start: Starter) -> None:
    with connected(start(), CHUNKED, b"10\r\n                \r\n" * 2000, b"0\r\n\r\n") as connection:
        assert answer_of(connection)[0] == 422


def test_an_answer_in_two_parts_is_sent_without_waiting_for_the_client(
    start: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With Nagle's algorithm the second part comes 40 ms late."""
    at_once: list[int] = []

    def looked_at(protocol: H11Protocol) -> None:
        socket_of = protocol.transport.get_extra_info("socket")
        at_once.append(socket_of.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        handle_events(protocol)

    handle_events = H11Protocol.handle_events
    monkeypatch.setattr(H11Protocol, "handle_events", looked_at)
    assert healthy(start())
    assert at_once
    assert all(at_once)


def healthy(running: Running) -> bool:
    """Tell whether a newcomer is served."""
    return send(running, "GET", "/healthz")[0] == 200


@pytest.mark.parametrize("piece", [b"", HALF, WHOLE, BODY, WHOLE + HALF])
def test_whatever_is_left_unfinished_locks_nobody_out(start: Starter, piece: bytes) -> None:
    running = start(limits=Limits(connections=8))
    with ExitStack() as held:
        for _ in range(12):
            held.enter_context(connected(running, piece))
        for _ in range(3):
            assert healthy(running)
        _, _, metrics = send(running, "GET", "/metrics")
    assert float(metrics.partition(b"\ni2cansay_connections_evicted_total ")[2].split()[0]) >= 5


def test_one_that_is_closed_for_another_is_told(start: Starter) -> None:
    running = start(limits=Limits(connections=2))
    with connected(running, WHOLE + HALF) as oldest, connected(running, WHOLE + HALF) as other:
        for connection in (oldest, other):  # once the first is answered, the half of the second has been read
            assert b'"alive"' in read_until(connection, b"}")
        assert healthy(running)
        status, headers, content = answer_of(oldest)
    assert (status, content["code"], headers["retry-after"]) == (503, "busy", "1")


def test_clients_that_do_not_read_lock_nobody_out(start: Starter) -> None:
    running = start(limits=Limits(connections=4, seconds=60))
    request = b"GET /page.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connected(running) as first, connected(running) as second, connected(running) as third:
        for connection in (first, second, third):
            connection.settimeout(1.0)
            try:
                for _ in range(200):
                    connection.sendall(request * 50)
            except TimeoutError:
                continue  # it takes no more: answers wait to be read
        for _ in range(6):
            assert healthy(running)


@contextmanager
def busy(running: Running, monkeypatch: pytest.MonkeyPatch, clients: int) -> Iterator[list[int]]:
    """Keep some requests at work until the block ends; give the status of their answers."""
    running.service.create("numbers", encoder=None)
    database = running.service.models["numbers"]._database
    begun, go, real = threading.Event(), threading.Event(), database.commit

    def slow(*words: Any) -> Any:
        begun.set()
        go.wait(60)
        return real(*words)

    monkeypatch.setattr(database, "commit", slow)
    body = json.dumps({"features": [[1.0], [2.0]], "label": "a"}).encode()
    statuses: list[int] = []

    def teach() -> None:
        statuses.append(send(running, "POST", "/v1/models/numbers/learn", body)[0])

    threads = [threading.Thread(target=teach) for _ in range(clients)]
    for number, thread in enumerate(threads):  # the first is being written, the others wait for it
        thread.start()
        assert begun.wait(20)
        for _ in range(2000):
            if running.service.models["numbers"].waiting >= number:
                break
            time.sleep(0.01)
    try:
        yield statuses
    finally:
        go.set()
        for thread in threads:
            thread.join()


def test_where_all_are_at_work_the_next_is_asked_to_come_back(
    start: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = start(limits=Limits(connections=2, seconds=60))
    with busy(running, monkeypatch, 2) as statuses:
        status, headers, content = send(running, "GET", "/healthz")
        assert (status, content["code"]) == (503, "busy")
        assert (headers["retry-after"], headers["connection"]) == ("1", "close")
    assert statuses == [200, 200]
    assert healthy(running)


def test_an_address_that_has_its_share_is_refused(start: Starter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connections, "_is_exempt", lambda *_: False)
    running = start(limits=Limits(connections_per_address=2))
    with connected(running, WHOLE) as first, connected(running, WHOLE):
        assert answer_of(first)[0] == 200
        status, headers, content = send(running, "GET", "/healthz")
        assert (status, content["code"], headers["retry-after"]) == (429, "too_many_connections", "5")
    for _ in range(200):  # until both are seen to be gone
        if healthy(running):
            break
    else:
        raise AssertionError("its share was not given back")


def test_the_end_waits_for_what_is_at_work_and_not_for_halves(
    start: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = start(limits=Limits(header_seconds=1000, seconds=60))
    with connected(running, HALF) as half, busy(running, monkeypatch, 1) as statuses:
        stopping = threading.Thread(target=running.stop)
        stopping.start()
        assert ended(half)
        assert stopping.is_alive()
    stopping.join()
    assert statuses == [200]


def test_where_descriptors_are_short_it_pauses_and_then_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(listener, "PAUSE", 0.2)
    calls: list[float] = []

    async def short(_: socket.socket) -> None:
        calls.append(time.monotonic())
        raise OSError(errno.EMFILE, "Too many open files")

    async def listen() -> None:
        (listening,) = bind("127.0.0.1", 0)
        monkeypatch.setattr(asyncio.get_running_loop(), "sock_accept", short)
        policy = Listener(
            listening,
            Connections(4, Limits()),
            ServiceMetrics(),
            lambda _: pytest.fail("nobody came"),
            context=None,
            seconds=1.0,
        )
        await asyncio.sleep(1.0)
        policy.close()
        await policy.wait_closed()

    with caplog.at_level(logging.WARNING):
        asyncio.run(listen())
    assert len(calls) >= 2
    assert all(later - sooner >= 0.19 for sooner, later in pairwise(calls))
    assert "Too many open files" in caplog.text


def test_one_connection_that_fails_does_not_end_the_listening(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ours, theirs = (
        socket.socketpair()
    )  # has no TCP_NODELAY, as a socket that was reset before it was accepted
    came = 0

    async def one(_: socket.socket) -> tuple[socket.socket, tuple[str, int]]:
        nonlocal came
        came += 1
        if came > 1:
            await asyncio.sleep(1000)
        return ours, ("127.0.0.1", 7)

    async def listen() -> None:
        (listening,) = bind("127.0.0.1", 0)
        monkeypatch.setattr(asyncio.get_running_loop(), "sock_accept", one)
        made = Listener(
            listening,
            Connections(4, Limits()),
            ServiceMetrics(),
            lambda _: pytest.fail("it was refused before"),
            context=None,
            seconds=1.0,
        )
        while came < 2 and not made._tasks[0].done():
            await asyncio.sleep(0.01)
        made.close()
        await made.wait_closed()

    theirs.settimeout(20)
    with theirs, caplog.at_level(logging.ERROR):
        asyncio.run(listen())
        assert came == 2
        assert theirs.recv(1) == b""  # it was closed
    assert "could not be admitted" in caplog.text


# -- nonsense -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pieces", "status", "code"),
    [
        ((b"nonsense\r\n\r\n",), 400, "not_http"),
        ((b"GET / HTTP/1.1\r\nno colon here\r\n\r\n",), 400, "not_http"),
        ((b"GET / HTTP/1.1\r\n\r\n",), 400, "not_http"),  # no host
        (
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\r\n",),
            400,
            "not_http",
        ),  # TLS on a plain port
        ((HALF + b"x: " + b"y" * 200_000,), 431, "headers_too_large"),
        (
            (HALF + b"x: " + b"y" * 200_000 + b"\r\n\r\n",),
            431,
            "headers_too_large",
        ),  # complete, in one packet
        ((HALF + b"x: " + b"y" * 17_000 + b"\r\n\r\n",), 431, "headers_too_large"),
        ((HALF + b"".join(b"x%d: y\r\n" % n for n in range(100)) + b"\r\n",), 431, "headers_too_large"),
        ((BODY.replace(b"Content-Length: 99", b"Transfer-Encoding: chunked"), b"zz\r\n"), 400, "not_http"),
    ],
)
def test_what_is_not_http_is_answered_in_json(
    shared: Running, pieces: tuple[bytes, ...], status: int, code: str
) -> None:
    with connected(shared, *pieces) as connection:
        got, headers, content = answer_of(connection)
    assert (got, content["code"]) == (status, code)
    assert headers["content-type"] == "application/json"
    assert content["detail"]
    assert healthy(shared)


def test_many_headers_below_the_limit_are_fine(shared: Running) -> None:
    with connected(shared, HALF + b"".join(b"x%d: y\r\n" % n for n in range(99)) + b"\r\n") as connection:
        assert answer_of(connection)[0] == 200


def test_an_answer_is_written_at_once(shared: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []

    def noted(transport: Any, data: bytes) -> None:
        written.append(bytes(data))
        write(transport, data)

    transport = asyncio.selector_events._SelectorSocketTransport  # type: ignore[attr-defined]
    write = transport.write
    monkeypatch.setattr(transport, "write", noted)
    with connected(shared, WHOLE) as connection:
        assert answer_of(connection)[0] == 200
    parts = [data for data in written if data]
    assert len(parts) == 1
    assert parts[0].startswith(b"HTTP/1.1 200")
    assert parts[0].endswith(b"}")


@pytest.mark.parametrize(("length", "status"), [(99, 422), (20_000, 422), (60_000, 422), (200_000, 413)])
def test_the_headers_after_a_long_body_have_the_same_limit(shared: Running, length: int, status: int) -> None:
    first = BODY[:-1].replace(b"99", str(length).encode()) + b" " * length
    long = HALF + b"x: " + b"y" * 17_000 + b"\r\n\r\n"
    for pieces, expected in (((first, long), [status, 431]), ((first, WHOLE) * 2, [status, 200] * 2)):
        with connected(shared, b"".join(pieces)) as connection:
            received = b""
            while len(statuses := re.findall(rb"HTTP/1.1 (\d+)", received)) < len(expected):
                received += connection.recv(10_000)
            assert [int(each) for each in statuses] == expected


def test_a_body_of_known_length_is_read_in_large_pieces(
    shared: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every piece goes through h11's state machine: 256 kB in pieces of headers cost more than the prediction."""
    pieces: list[int] = []

    def noted(protocol: H11Protocol, data: bytes) -> None:
        pieces.append(len(data))
        data_received(protocol, data)

    data_received = H11Protocol.data_received
    monkeypatch.setattr(H11Protocol, "data_received", noted)
    body = b" " * 400_000
    path = "/v1/models/numbers/predict"
    assert send(shared, "POST", path, body, {"content-type": "application/octet-stream"})[0] == 422
    assert sum(pieces) > 400_000
    assert max(pieces) > PIECE
    assert pieces[0] <= PIECE


def test_requests_in_one_packet_are_answered_in_turn(shared: Running) -> None:
    with connected(shared, WHOLE * 3 + WHOLE.replace(b"Host", b"Connection: close\r\nHost")) as connection:
        received = b"".join(iter(lambda: connection.recv(10_000), b""))
    assert received.count(b"HTTP/1.1 200") == 4


def test_a_handshake_that_does_not_end_is_given_up(start: Starter, tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout key.pem -out cert.pem"
    )
    subprocess.run(command.split(), cwd=tmp_path, check=True, capture_output=True)
    running = start(
        limits=Limits(connections=4, header_seconds=0.5),
        certificate=tmp_path / "cert.pem",
        key=tmp_path / "key.pem",
    )
    with connected(running) as connection:
        assert ended(connection)
