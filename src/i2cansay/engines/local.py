"""The engine of one machine: one item after the other, in this process."""

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Self, TypeVar

from i2cansay.engines.tree import TreeReduction

Item = TypeVar("Item")
Result = TypeVar("Result")


class LocalEngine:
    """Works on one item at a time; products of matrices use all cores by themselves.

    Examples
    --------
    >>> with LocalEngine() as engine:
    ...     list(engine.each(str.upper, ["a", "b"])), engine.reduce(str.upper, str.__add__, ["a", "b", "c"])
    ([(0, 'A'), (1, 'B')], 'ABC')
    """

    workers = 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def each(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        """Yield the number of each item with its result, in order."""
        for number, item in enumerate(items):
            yield number, function(item)

    def reduce(
        self,
        function: Callable[[Item], Result],
        merge: Callable[[Result, Result], Result],
        items: Sequence[Item],
    ) -> Result:
        """Return the merged results of all items; as many results as the tree is deep are in memory."""
        tree = TreeReduction(merge)
        for item in items:
            tree.add(function(item))
        return tree.result()
