"""Bodies in thousands of chunks of a few bytes: parsing a chunk costs the same at any size."""

from __future__ import annotations

from typing import Any

import h11

CHUNKS = 1000
"""A body may have this many chunks of any size."""
CHUNK = 16
"""With more, they must have this many bytes on average."""


class TinyChunks(h11.RemoteProtocolError):
    """A body has too many chunks for its bytes."""


class ChunkCounter:
    """Stands before the `next_event` of an h11 connection; counts a body that nobody reads any more as well.

    Parameters
    ----------
    connection : h11.Connection
        Its `next_event` is replaced.

    Attributes
    ----------
    announced : int
        Bytes that the body is still to have by the length in its headers; 0 for a body in chunks.
    """

    def __init__(self, connection: h11.Connection) -> None:
        self._next_event = connection.next_event
        self._chunks = self._bytes = self.announced = 0
        connection.next_event = self.next_event  # type: ignore[method-assign]

    def next_event(self) -> Any:
        """Return what h11 has next; raise TinyChunks where it is one chunk too many."""
        event = self._next_event()
        if isinstance(event, h11.Data):
            self._bytes += len(event.data)
            self.announced -= min(len(event.data), self.announced)
            self._chunks += event.chunk_end  # never so where the length of the body was announced
            if self._chunks > CHUNKS and self._bytes < CHUNK * self._chunks:
                raise TinyChunks(f"more than {CHUNKS} chunks of less than {CHUNK} bytes")
        elif isinstance(event, h11.Request):
            self._chunks = self._bytes = 0
            self.announced = _announced(event)
        return event


def _announced(request: h11.Request) -> int:
    """Return the length in the headers of a request, which h11 has checked."""
    headers = dict(request.headers)
    return 0 if b"transfer-encoding" in headers else int(headers.get(b"content-length", 0))
