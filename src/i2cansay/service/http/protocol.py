"""HTTP/1.1 on one connection: uvicorn's protocol, with an entry in the table of connections and errors in JSON.

Used of uvicorn's class beyond its constructor: `handle_events`, `on_response_complete` and
`send_400_response` as hooks, and `conn`, `cycle`, `flow` and `transport` to read.
`tests/service/http/test_protocol.py` fails where one of them moves.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from i2cansay.service.errors import ServiceError, error_content
from i2cansay.service.http.connections import Connections, Stage
from i2cansay.service.http.head_with_body import HeadWithBody
from i2cansay.service.http.tiny_chunks import CHUNK, ChunkCounter, TinyChunks
from i2cansay.service.service_metrics import ServiceMetrics

log = logging.getLogger("i2cansay.service")
PIECE = 16_384
"""Bytes that are parsed at once where headers can be among them, so that their limit holds within one packet too."""


class HttpProtocol(H11Protocol):
    """A connection that is counted and timed, and gets its errors in JSON."""

    def __init__(
        self, *, connections: Connections, metrics: ServiceMetrics, address: str, **uvicorn_options: Any
    ) -> None:
        super().__init__(**uvicorn_options)
        self._body = ChunkCounter(self.conn)
        HeadWithBody(self.conn)
        self.address = address
        self.opening: asyncio.Task[Any] | None = None
        self._table = connections
        self._metrics = metrics

    # -- called by uvicorn ----------------------------------------------------------------------------------

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection from the table."""
        self._table.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data piece by piece; the rest of a body of known length, which is not parsed, is one piece."""
        start = 0
        while start < len(data) and not self.transport.is_closing():
            end = start + max(PIECE, self._body.announced)
            super().data_received(data[start:end])
            start = end

    def handle_events(self) -> None:
        """Let uvicorn act on the parsed events, then note the new stage."""
        super().handle_events()
        self._settle()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._settle()

    def pause_writing(self) -> None:
        """The client does not read its answer."""
        super().pause_writing()
        self._settle()

    def resume_writing(self) -> None:
        """The client reads again."""
        super().resume_writing()
        self._settle()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that is not HTTP, or whose headers are too long."""
        error = sys.exception()
        if isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == 431:
            self._end(ServiceError(431, "headers_too_large", "the headers of this request are too long"))
        elif isinstance(error, TinyChunks):
            sentence = f"the body comes in chunks of less than {CHUNK} bytes; send larger ones, or its length"
            self._end(ServiceError(400, "tiny_chunks", sentence))
        else:
            why = f": {error}" if isinstance(error, h11.RemoteProtocolError) else ""
            self._end(ServiceError(400, "not_http", f"this is not a request of HTTP/1.1{why}"))

    def _settle(self) -> None:
        self._table.move(self, self._stage())

    def _stage(self) -> Stage:
        if self.flow.write_paused:
            return Stage.READER
        if self.cycle is not None and not self.cycle.response_complete:
            return Stage.BODY if self.cycle.more_body else Stage.WORK
        return Stage.HEADERS if self.cycle is None or self._begun() else Stage.IDLE

    def _begun(self) -> bool:
        """Return whether part of the next request's headers has arrived."""
        return self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])

    # -- called by the table -------------------------------------------------------------------------------

    def overdue(self, stage: Stage) -> None:
        """Close a connection that has waited for its client too long."""
        self._metrics.happened("connections_overdue")
        if stage is Stage.HEADERS and self._begun():
            self._end(ServiceError(408, "timeout", "the headers of the request did not arrive in time"))
        else:
            self._end()

    def evict(self) -> None:
        """Close a connection because its place is needed."""
        self._metrics.happened("connections_evicted")
        log.warning("all connections are in use; one from %s that waited is closed for another", self.address)
        if self._begun():
            sentence = "the service is busy, and the headers of this request were not complete; try again"
            self._end(ServiceError(503, "busy", sentence, retry_after=1.0))
        else:
            self._end()

    def _end(self, error: ServiceError | None = None) -> None:
        """Close at once; send `error` first, unless another answer has begun."""
        if self.transport is None:
            if self.opening is not None:
                self.opening.cancel()
            return
        cycle = self.cycle
        answering = cycle is not None and cycle.response_started and not cycle.response_complete
        if error is not None and not answering:
            self.transport.write(plain_answer(error))
        self.transport.abort()  # close() would wait for a client that does not read


def plain_answer(error: ServiceError) -> bytes:
    """Return a refusal as bytes on the wire; the connection ends after it.

    Examples
    --------
    >>> print(plain_answer(ServiceError(503, "busy", "try again", retry_after=1.0)).decode())
    HTTP/1.1 503 Service Unavailable
    retry-after: 1
    content-type: application/json
    content-length: 39
    connection: close
    <BLANKLINE>
    {"code": "busy", "detail": "try again"}
    """
    content, headers = error_content(error)
    body = json.dumps(content).encode()
    headers |= {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
    }
    lines = [f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body
