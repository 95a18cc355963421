"""An engine of one machine that divides what it is given anew, wherever a test says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar, cast

from i2cansay.engines import LocalEngine
from i2cansay.fitting.part import Span

Item = TypeVar("Item")
Result = TypeVar("Result")


class UnevenEngine(LocalEngine):
    """Cuts the rows of all spans together at `cuts`."""

    def __init__(self, cuts: set[int]) -> None:
        self._cuts = cuts

    def reduce(
        self,
        function: Callable[[Item], Result],
        merge: Callable[[Result, Result], Result],
        items: Sequence[Item],
    ) -> Result:
        """Return the merged results of spans between the cuts."""
        spans = cast(Sequence[Span], items)
        start, stop = spans[0].start, spans[-1].stop
        ends = [start, *sorted(cut for cut in self._cuts if start < cut < stop), stop]
        divided = cast(Sequence[Item], [Span(*pair) for pair in pairwise(ends)])
        return super().reduce(function, merge, divided)
