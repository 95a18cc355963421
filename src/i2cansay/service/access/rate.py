"""Rate limits for tokens and addresses: a bucket for each, which fills at a steady rate."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

NAMES = 10_000
"""Buckets that are kept. The least recently used one is dropped first, and starts full if it comes back."""


class RateLimit:
    """A bucket per name: `per_second` in the long run, `at_once` at once (by default twice as many).

    Examples
    --------
    >>> limit = RateLimit(1.0)
    >>> [limit.wait_for("line-3", now=0.0) for _ in range(3)]
    [0.0, 0.0, 1.0]
    >>> limit.wait_for("line-3", now=1.0)
    0.0
    """

    def __init__(self, per_second: float, at_once: float | None = None, *, names: int = NAMES) -> None:
        self._per_second = per_second
        self._full = max(1.0, 2 * per_second if at_once is None else at_once)
        self._names = names
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait_for(self, name: str, now: float | None = None) -> float:
        """Take one from the bucket of `name`; return 0, or the seconds to wait where it is empty."""
        now = time.monotonic() if now is None else now
        with self._lock:
            left, then = self._buckets.pop(name, (self._full, now))
            left = min(self._full, left + (now - then) * self._per_second)
            enough = left >= 1
            self._buckets[name] = (left - 1 if enough else left, now)
            if len(self._buckets) > self._names:
                self._buckets.popitem(last=False)
            return 0.0 if enough else (1 - left) / self._per_second
