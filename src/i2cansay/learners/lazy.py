"""A result that is expensive to compute: computed on demand, kept until what it was computed from changes."""

from collections.abc import Callable
from typing import Generic, TypeVar

from i2cansay.core.copyable_lock import CopyableLock

Made = TypeVar("Made")


class Cached(Generic[Made]):
    """Keeps one result; an object of its own, so that scoring changes no attribute of a learner.

    Examples
    --------
    >>> solution = Cached[str]()
    >>> solution.get(lambda: "solved"), solution.get(lambda: "solved again")
    ('solved', 'solved')
    >>> solution.clear()
    >>> solution.get(lambda: "solved again")
    'solved again'
    """

    def __init__(self) -> None:
        self._lock = CopyableLock()
        # A result carries the generation it was computed in, so that it is never taken for a later one, even if
        # something was learnt while it was being computed or stored.
        self._generation = 0
        self._made: tuple[int, Made] | None = None

    def get(self, make: Callable[[], Made]) -> Made:
        """Return the result, and compute it if there is none; other threads that ask meanwhile wait for it."""
        if (held := self._held()) is None:
            with self._lock:
                if (held := self._held()) is None:
                    generation = self._generation
                    held = self._made = generation, make()
        return held[1]

    @property
    def ready(self) -> bool:
        """Whether there is a result that nothing has changed since."""
        return self._held() is not None

    def _held(self) -> tuple[int, Made] | None:
        held = self._made
        return held if held is not None and held[0] == self._generation else None

    def clear(self) -> None:
        """Discard the result, because what it was computed from has changed."""
        self._generation += 1
        self._made = None
