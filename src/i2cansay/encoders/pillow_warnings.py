"""Keeping Pillow's warnings about odd files from the user, in several threads at once.

`warnings.catch_warnings` swaps the whole list of filters and is not safe in threads: two overlapping blocks
can leave it changed for good. Here the first thread that enters adds one filter, for warnings raised inside
Pillow only, and the last one that leaves takes it away.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

_lock = threading.Lock()
_inside = 0
_added: Any = None


@contextmanager
def quiet_pillow_warnings() -> Iterator[None]:
    """Ignore warnings that Pillow's own modules raise.

    Examples
    --------
    >>> import warnings
    >>> before = list(warnings.filters)
    >>> with quiet_pillow_warnings(), quiet_pillow_warnings():
    ...     len(warnings.filters) - len(before)
    1
    >>> list(warnings.filters) == before
    True
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _inside, _added  # noqa: PLW0603
    with _lock:
        if _inside == 0:
            warnings.filterwarnings("ignore", module=r"PIL\.")
            _added = warnings.filters[0]
        _inside += 1


def _leave() -> None:
    global _inside  # noqa: PLW0603
    with _lock:
        _inside -= 1
        if _inside == 0:
            # Someone may have put another list of filters in place meanwhile; then there is nothing to undo.
            with suppress(ValueError):
                warnings.filters.remove(_added)  # type: ignore[attr-defined]
