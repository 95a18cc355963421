"""How often each token may ask: a bucket that fills at a steady rate."""

from __future__ import annotations

import threading
import time


class RateLimit:
    """A bucket per name: `per_second` requests in the long run, twice as many at once.

    Examples
    --------
    >>> limit = RateLimit(1.0)
    >>> [limit.wait_for("line-3", now=0.0) for _ in range(3)]
    [0.0, 0.0, 1.0]
    >>> limit.wait_for("line-3", now=1.0)
    0.0
    """

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._full = max(1.0, 2 * per_second)
        self._buckets: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def wait_for(self, name: str, now: float | None = None) -> float:
        """Take one from the bucket of `name`; return 0, or the seconds until there is one again."""
        now = time.monotonic() if now is None else now
        with self._lock:
            left, then = self._buckets.get(name, (self._full, now))
            left = min(self._full, left + (now - then) * self._per_second)
            if left >= 1:
                self._buckets[name] = (left - 1, now)
                return 0.0
            self._buckets[name] = (left, now)
            return (1 - left) / self._per_second
