"""An engine of one machine that divides what it is given anew, wherever a test says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

from i2cansay.engines import LocalEngine
from i2cansay.fitting.part import Span

Result = TypeVar("Result")


class UnevenEngine(LocalEngine):
    """Cuts the rows of all spans together at `cuts`."""

    def __init__(self, cuts: set[int]) -> None:
        self._cuts = cuts

    def reduce(  # type: ignore[override]
        self,
        function: Callable[[Span], Result],
        merge: Callable[[Result, Result], Result],
        items: Sequence[Span],
    ) -> Result:
        """Return the merged results of spans between the cuts."""
        start, stop = items[0].start, items[-1].stop
        ends = [start, *sorted(cut for cut in self._cuts if start < cut < stop), stop]
        return super().reduce(function, merge, [Span(*pair) for pair in pairwise(ends)])
