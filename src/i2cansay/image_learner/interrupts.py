"""Defers Ctrl-C, so that it never stops a change halfway."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Let Ctrl-C take effect at the end of the block.

    Python delivers it to the main thread only; in any other thread there is nothing to do.

    Examples
    --------
    >>> usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    >>> finished = False
    >>> try:
    ...     with interrupts_deferred():
    ...         signal.raise_signal(signal.SIGINT)
    ...         finished = True
    ... except KeyboardInterrupt:
    ...     print(finished)
    True
    >>> _ = signal.signal(signal.SIGINT, usual)
    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or usual is None:
        yield  # None: the handler was set in C, and could not be put back
        return
    caught: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: caught.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if caught:
            signal.raise_signal(signal.SIGINT)
