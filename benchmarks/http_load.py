"""Clients that cost little: many connections of one thread, each with one request at a time, written beforehand."""

from __future__ import annotations

import selectors
import socket
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

PIECE = 1 << 16
PATIENCE = 60.0
"""Seconds after which an answer counts as missing."""


@dataclass(frozen=True)
class WrittenRequest:
    """A request as bytes on the wire, and its kind."""

    kind: str
    data: bytes


def written(
    kind: str, path: str, body: bytes, *, content_type: str, headers: Mapping[str, str] | None = None
) -> WrittenRequest:
    """Return a POST request.

    Examples
    --------
    >>> written("ask", "/v1", b"{}", content_type="application/json").data.splitlines()[0]
    b'POST /v1 HTTP/1.1'
    """
    lines = {"host": "127.0.0.1", "content-type": content_type, "content-length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in {**lines, **(headers or {})}.items())
    return WrittenRequest(kind, f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body)


@dataclass
class Seen:
    """What the clients saw: seconds until each answer by the kind of its request, and answers other than 200."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    taken: float = 0.0

    @property
    def total(self) -> int:
        """How many answers there were."""
        return sum(map(len, self.seconds.values()))

    def add(self, other: Seen) -> None:
        """Add what was seen in another stretch."""
        for kind, seconds in other.seconds.items():
            self.seconds.setdefault(kind, []).extend(seconds)
        self.errors += other.errors
        self.taken += other.taken


class Clients:
    """Connections to one port of this machine; close them with `close`."""

    def __init__(self, port: int, n: int) -> None:
        self._selector = selectors.DefaultSelector()
        self._sockets = [socket.create_connection(("127.0.0.1", port), PATIENCE) for _ in range(n)]
        for each in self._sockets:
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._selector.register(each, selectors.EVENT_READ)

    def run(self, requests: Iterator[WrittenRequest], seconds: float) -> Seen:
        """Send requests for some seconds, the next of a connection when its last is answered; await the rest."""
        seen = Seen()
        begun = time.perf_counter()
        sent: dict[socket.socket, tuple[str, float]] = {}
        answers = {each: bytearray() for each in self._sockets}
        for each in self._sockets:
            _send(each, next(requests), sent)
        while sent:
            ready = self._selector.select(PATIENCE)
            if not ready:
                raise TimeoutError(f"{len(sent)} requests got no answer in {PATIENCE:g} seconds")
            for key, _ in ready:
                each = key.fileobj  # type: ignore[assignment]
                piece = each.recv(PIECE)
                if not piece:
                    raise ConnectionError("the service closed a connection")
                answer = answers[each]
                answer += piece
                if not _whole(answer):
                    continue
                kind, since = sent.pop(each)
                now = time.perf_counter()
                seen.seconds.setdefault(kind, []).append(now - since)
                if not answer.startswith(b"HTTP/1.1 200"):
                    seen.errors[bytes(answer.splitlines()[-1][:200]).decode(errors="replace")] += 1
                answer.clear()
                if now - begun < seconds:
                    _send(each, next(requests), sent)
        seen.taken = time.perf_counter() - begun
        return seen

    def close(self) -> None:
        """Close the connections."""
        self._selector.close()
        for each in self._sockets:
            each.close()


def _send(each: socket.socket, request: WrittenRequest, sent: dict[socket.socket, tuple[str, float]]) -> None:
    sent[each] = request.kind, time.perf_counter()
    each.sendall(request.data)


def _whole(answer: bytearray) -> bool:
    """Return whether an answer has arrived to its end; the service announces the length of all it says."""
    end = answer.find(b"\r\n\r\n")
    if end < 0:
        return False
    start = answer.find(b"content-length: ") + 16
    return len(answer) >= end + 4 + int(answer[start : answer.index(b"\r\n", start)])
