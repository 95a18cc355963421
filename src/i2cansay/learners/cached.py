"""Something that is expensive to make, made when asked for and kept until what it rests on has changed."""

from collections.abc import Callable
from typing import Generic, TypeVar

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
        self._made: Made | None = None

    def get(self, make: Callable[[], Made]) -> Made:
        """Return the result, making it where there is none."""
        made = self._made
        if made is None:
            made = self._made = make()
        return made

    def clear(self) -> None:
        """Throw the result away: what it was made from has changed."""
        self._made = None
