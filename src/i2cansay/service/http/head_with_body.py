"""Answers leave in one piece: a system call gives Python's lock away, and often waits to get it back."""

from __future__ import annotations

import h11


class HeadWithBody:
    """Stands before the `send` of an h11 connection; keeps the head of an answer until the next event.

    uvicorn writes what `send` returns, and calls it for the head, for every part of the body and for the end. An
    answer without a body has an end, so no head is kept for good.

    Parameters
    ----------
    connection : h11.Connection
        Its `send` is replaced.
    """

    def __init__(self, connection: h11.Connection) -> None:
        self._send = connection.send
        self._head = b""
        connection.send = self.send  # type: ignore[method-assign, assignment]

    def send(self, event: h11.Event) -> bytes | None:
        """Return the bytes to write now, None where the connection is to be closed."""
        data = self._send(event)
        if isinstance(event, h11.Response):
            self._head = data or b""
            return b""
        if data is None or not self._head:
            return data
        data, self._head = self._head + data, b""
        return data
