"""The head of an answer leaves with what comes after it, byte for byte as h11 wrote both."""

from __future__ import annotations

import h11
import pytest

from i2cansay.service.http.head_with_body import HeadWithBody

LENGTH = [("content-length", "5")]
PARTS: dict[str, tuple[str, list[h11.Event]]] = {
    "a length": ("GET", [h11.Response(status_code=200, headers=LENGTH), h11.Data(data=b"12345")]),
    "two parts": (
        "GET",
        [h11.Response(status_code=200, headers=LENGTH), h11.Data(data=b"123"), h11.Data(data=b"45")],
    ),
    "chunks": ("GET", [h11.Response(status_code=200, headers=[]), h11.Data(data=b"12345")]),
    "no body": ("GET", [h11.Response(status_code=204, headers=[]), h11.Data(data=b"")]),
    "nothing but an end": ("GET", [h11.Response(status_code=304, headers=[])]),
    "HEAD": ("HEAD", [h11.Response(status_code=200, headers=LENGTH), h11.Data(data=b"")]),
    "go on": (
        "GET",
        [
            h11.InformationalResponse(status_code=100, headers=[]),
            h11.Response(status_code=200, headers=LENGTH),
            h11.Data(data=b"12345"),
        ],
    ),
}


def asked(method: str) -> h11.Connection:
    """Return a connection that has read a request."""
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(f"{method} / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n".encode())
    assert isinstance(connection.next_event(), h11.Request)
    assert isinstance(connection.next_event(), h11.EndOfMessage)
    return connection


@pytest.mark.parametrize("name", PARTS)
def test_the_bytes_are_the_same_and_the_head_waits_for_the_next_event(name: str) -> None:
    method, events = PARTS[name]
    plain, held = asked(method), asked(method)
    HeadWithBody(held)
    expected = [plain.send(event) or b"" for event in [*events, h11.EndOfMessage()]]
    sent = [held.send(event) or b"" for event in [*events, h11.EndOfMessage()]]
    assert b"".join(sent) == b"".join(expected)
    head = next(place for place, event in enumerate(events) if isinstance(event, h11.Response))
    assert sent[head] == b""
    assert sent[head + 1].startswith(b"HTTP/1.1 ")


def test_a_second_answer_of_a_connection_has_its_own_head() -> None:
    connection = asked("GET")
    HeadWithBody(connection)
    for _ in range(2):
        sent = [connection.send(event) for event in [*PARTS["a length"][1], h11.EndOfMessage()]]
        assert b"".join(part or b"" for part in sent).count(b"HTTP/1.1 ") == 1
        connection.start_next_cycle()
        connection.receive_data(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        connection.next_event(), connection.next_event()


def test_a_connection_that_ends_before_its_answer_says_so() -> None:
    connection = asked("GET")
    HeadWithBody(connection)
    connection.send(h11.Response(status_code=200, headers=[("connection", "close"), *LENGTH]))
    connection.send(h11.Data(data=b"12345"))
    connection.send(h11.EndOfMessage())
    assert connection.send(h11.ConnectionClosed()) is None
