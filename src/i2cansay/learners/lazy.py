"""Something that is expensive to make, made when asked for and kept until what it rests on has changed."""

from collections.abc import Callable
from typing import Generic, TypeVar

from i2cansay.core.lock import Lock

Made = TypeVar("Made")


class Cached(Generic[Made]):
    """Holds one result. An object of its own, so that asking a learner changes none of its attributes.

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
        self._lock = Lock()
        # What was made carries the generation it was made in, so that it is never taken for one of a later one: not
        # even where something was learnt while it was being made, or between the last look and the keeping.
        self._generation = 0
        self._made: tuple[int, Made] | None = None

    def get(self, make: Callable[[], Made]) -> Made:
        """Return the result, making it where there is none; other threads that ask meanwhile wait for it."""
        if (held := self._held()) is None:
            with self._lock:
                if (held := self._held()) is None:
                    generation = self._generation
                    held = self._made = generation, make()
        return held[1]

    def _held(self) -> tuple[int, Made] | None:
        held = self._made
        return held if held is not None and held[0] == self._generation else None

    def clear(self) -> None:
        """Throw the result away: what it was made from has changed."""
        self._generation += 1
        self._made = None
