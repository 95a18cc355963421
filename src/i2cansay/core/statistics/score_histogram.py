"""A histogram of numbers whose range is not known beforehand and moves, in a fixed number of bins.

Bins are ``2**exponent`` wide and lie at whole multiples of that width. Where numbers do not fit, neighbouring bins
are joined: every number then is where it would have been counted in wide bins from the start. Two histograms
therefore add up exactly, in the wider bins of the two.
"""

import numpy as np

from i2cansay.core.state_parts import LARGEST_COUNT, check_range
from i2cansay.core.types import Float64, State

BINS = 128
# The first bins are this much finer than the number itself; they are joined as soon as numbers differ by more.
FINEST = -20
# An outlier counts as if it lay this many times the range of the others beyond them: it must not blur them.
REACH = 1.0
# From this weight on the range of the others is known.
SETTLED = 20.0
# What has faded below this is dropped, so that the range can follow.
FADED = 1e-4
LARGEST_NUMBER = 1e60


class ScoreHistogram:
    """How often which numbers came, with weights that can fade.

    Examples
    --------
    >>> histogram = ScoreHistogram()
    >>> histogram.add(np.arange(100.0))
    >>> histogram.weight, histogram.upper_limit(90.0)
    (100.0, 90.0)
    """

    def __init__(self) -> None:
        self._counts: Float64 = np.zeros(BINS)
        self._exponent = 0
        self._start = 0

    @property
    def weight(self) -> float:
        """The weight of all numbers."""
        return float(self._counts.sum())

    def add(self, numbers: Float64) -> None:
        """Count further numbers, (n,), with weight 1; those that are not numbers are left out."""
        numbers = numbers[~np.isnan(numbers)].clip(-LARGEST_NUMBER, LARGEST_NUMBER)
        if not len(numbers):
            return
        if self._counts.any():
            if self.weight >= SETTLED:
                low, high = self._range()
                numbers = numbers.clip(low - REACH * (high - low), high + REACH * (high - low))
        else:
            self._exponent = FINEST + int(np.frexp(np.abs(numbers).max())[1])
            self._start = self._bin(float(numbers.min()))
        self._cover(float(numbers.min()), float(numbers.max()))
        bins = np.floor(np.ldexp(numbers, -self._exponent)).astype(np.int64) - self._start
        self._counts += np.bincount(bins, minlength=BINS)
        self._refine()

    def fade(self, keep: float) -> None:
        """Let everything counted so far weigh `keep` of what it did."""
        self._counts *= keep
        self._counts[self._counts < FADED] = 0.0

    def upper_limit(self, weight: float) -> float:
        """Return the end of the bin up to which numbers of this weight, a number of at most `self.weight`, lie."""
        reached = int(np.searchsorted(np.cumsum(self._counts), weight * (1 - 1e-12)))
        return self._edge(min(reached, BINS - 1) + 1)

    def merge(self, other: "ScoreHistogram") -> None:
        """Add what another histogram has counted."""
        if not other._counts.any():
            return
        if not self._counts.any():
            self._counts, self._exponent, self._start = other._counts.copy(), other._exponent, other._start
            return
        taken = ScoreHistogram()
        taken._counts, taken._exponent, taken._start = other._counts.copy(), other._exponent, other._start
        while taken._exponent < self._exponent:
            taken._join()
        while self._exponent < taken._exponent:
            self._join()
        first, last = taken._occupied()
        low, high = taken._edge(first), taken._edge(last)  # starts of bins: no rounding
        self._cover(low, high)
        while taken._exponent < self._exponent:
            taken._join()
        for place in np.flatnonzero(taken._counts).tolist():
            self._counts[taken._start + place - self._start] += taken._counts[place]

    # -- inside ---------------------------------------------------------------------------------------------

    def _bin(self, number: float) -> int:
        return int(np.floor(np.ldexp(number, -self._exponent)))

    def _edge(self, place: int) -> float:
        return float(np.ldexp(float(self._start + place), self._exponent))

    def _occupied(self) -> tuple[int, int]:
        places = np.flatnonzero(self._counts)
        return int(places[0]), int(places[-1])

    def _range(self) -> tuple[float, float]:
        first, last = self._occupied()
        return self._edge(first), self._edge(last + 1)

    def _cover(self, low: float, high: float) -> None:
        """Join and move bins until these numbers and all counted ones have a place."""
        while True:
            first, last = self._bin(low), self._bin(high)
            if self._counts.any():
                start, end = self._occupied()
                first, last = min(first, self._start + start), max(last, self._start + end)
            if last - first < BINS:
                break
            self._join()
        self._move(first - (BINS - 1 - (last - first)) // 2)

    def _move(self, start: int) -> None:
        counts = np.zeros(BINS)
        places = np.flatnonzero(self._counts)
        counts[places + (self._start - start)] = self._counts[places]
        self._counts, self._start = counts, start

    def _join(self) -> None:
        """Make bins twice as wide."""
        start = self._start // 2
        counts = np.zeros(BINS)
        np.add.at(counts, (np.arange(BINS) + self._start) // 2 - start, self._counts)
        self._counts, self._start, self._exponent = counts, start, self._exponent + 1

    def _refine(self) -> None:
        """Halve bins while all that is counted lies in a few: what made them wide has faded."""
        while True:
            first, last = self._occupied()
            size = max(abs(self._edge(first)), abs(self._edge(last + 1)))
            if 8 * (last - first + 1) > BINS or self._exponent <= FINEST + np.frexp(size)[1]:
                return
            halves = np.repeat(self._counts[first : last + 1] / 2, 2)
            self._start, self._exponent = 2 * (self._start + first), self._exponent - 1
            self._counts = np.concatenate([halves, np.zeros(BINS - len(halves))])

    # -- state ----------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Return the counts, and the exponent and the start of the bins."""
        return {"counts": self._counts, "bins": np.array([self._exponent, self._start], dtype=np.int64)}

    def restore(self, state: State) -> None:
        """Take over what `state()` returned; raise ValueError where it cannot have been counted."""
        if state["counts"].shape != (BINS,) or state["bins"].shape != (2,):
            raise ValueError(f"a histogram of scores should be {BINS} counts, and two numbers for their bins")
        check_range("the weight of a score", state["counts"], 0, LARGEST_COUNT)
        check_range("the width of the bins of scores", state["bins"][:1], -1100, 220)
        check_range("the place of the bins of scores", state["bins"][1:], -(2.0**40), 2.0**40)
        self._counts = state["counts"].astype(np.float64)
        self._exponent, self._start = (int(number) for number in state["bins"])
