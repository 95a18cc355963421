"""A log that clients cannot flood: of each kind of line, one in ten seconds."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

KINDS = 200


class RareLog(logging.Filter):
    """Lets one line of each kind through per `seconds`; the next one says how many were left out.

    Lines are of one kind if they come from the same logger and have the same format string.

    Examples
    --------
    >>> now = 0.0
    >>> seldom = RareLog(10.0, clock=lambda: now)
    >>> def line(number):
    ...     record = logging.LogRecord("service", logging.WARNING, "", 0, "no room for %d", (number,), None)
    ...     return record.getMessage() if seldom.filter(record) else None
    >>> line(1), line(2), line(3)
    ('no room for 1', None, None)
    >>> now = 10.0
    >>> line(4)
    'no room for 4 (and 2 more like it)'
    """

    def __init__(self, seconds: float = 10.0, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._kinds: OrderedDict[tuple[str, str], tuple[float, int]] = OrderedDict()

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether to write a line."""
        kind = (record.name, str(record.msg).partition("\n")[0][:200])
        now = self._clock()
        with self._lock:
            since, left_out = self._kinds.get(kind, (-float("inf"), 0))
            if now - since < self._seconds:
                self._kinds[kind] = (since, left_out + 1)
                return False
            self._kinds[kind] = (now, 0)
            self._kinds.move_to_end(kind)
            if len(self._kinds) > KINDS:
                self._kinds.popitem(last=False)
        if left_out:
            record.msg, record.args = f"{record.getMessage()} (and {left_out} more like it)", None
        return True
