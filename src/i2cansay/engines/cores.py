"""How many cores the work at hand may use: on an engine that shares a machine among tasks, not all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_SHARE: ContextVar[int | None] = ContextVar("share_of_cores", default=None)


def share_of_cores() -> int | None:
    """Return how many cores the work at hand may use; None for all that this process may use.

    Examples
    --------
    >>> with limited_to(1):
    ...     share_of_cores()
    1
    """
    return _SHARE.get()


@contextmanager
def limited_to(cores: int) -> Iterator[None]:
    """Let the work inside use so many cores."""
    before = _SHARE.set(cores)
    try:
        yield
    finally:
        _SHARE.reset(before)
