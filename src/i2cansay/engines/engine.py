"""What an engine does: map items in any order, or map them and reduce the results as a tree."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

ENGINES = ("local", "ray")


class Engine(Protocol):
    """Does work on items; functions and items must be such that another process can be sent them.

    What a function raises is raised here, as it is.
    """

    @property
    def workers(self) -> int:
        """How many items it works on at a time."""
        ...

    def each(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        """Yield the number of each item with its result, in the order in which they are finished."""
        ...

    def reduce(
        self,
        function: Callable[[Item], Result],
        merge: Callable[[Result, Result], Result],
        items: Sequence[Item],
    ) -> Result:
        """Return the merged results of all items, at least one: the tree of `TreeReduction`, on every engine.

        `merge` may change and return its first argument, which nobody else has.
        """
        ...
