"""A deadline for everything that happens on a socket.

The time-out of a socket starts anew with every piece that arrives, so a byte now and then holds its reader for ever.
After the deadline the socket is shut down, whatever it is doing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import SHUT_RDWR
from socket import socket as Socket


class Deadline:
    """A point in time, some seconds from now.

    Examples
    --------
    >>> Deadline(60.0).left() > 50.0
    True
    >>> Deadline(0.0).is_over
    True
    """

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._shut_down = False

    @property
    def is_over(self) -> bool:
        """Whether it has passed."""
        return self._shut_down or time.monotonic() >= self._until

    def left(self) -> float:
        """Return the seconds that are left; raise TimeoutError where there are none."""
        if self.is_over:
            raise TimeoutError
        return max(self._until - time.monotonic(), 0.001)

    @contextmanager
    def of(self, socket: Socket) -> Iterator[None]:
        """Shut a socket down at the deadline, unless the block has ended by then."""
        timer = threading.Timer(self.left(), self._end, [socket])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _end(self, socket: Socket) -> None:
        self._shut_down = True
        with suppress(OSError):  # it is closed already
            # Of the plain socket: that of TLS would first let go of what another thread is reading from.
            Socket.shutdown(socket, SHUT_RDWR)
