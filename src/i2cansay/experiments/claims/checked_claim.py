"""A claim on records before it is judged: the comparisons it rests on, and their p-values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan, nan

from i2cansay.experiments.claims.holm import holm
from i2cansay.experiments.run.paired_difference import Difference

#: Row, column and seed.
Run = tuple[str, str, int]
# Fewer runs decide nothing: the 95% interval of a deviation over four runs spans a factor of 6.6.
SEEDS_NEEDED = 5


@dataclass(frozen=True)
class Comparison:
    """One inequality that a claim rests on: the true difference is above a bound, in points.

    Attributes
    ----------
    name : str
    difference : Difference
    planned : int
        Seeds that both rows are declared to have. With fewer played, someone may have stopped where it suited, so
        nothing is decided.
    above : float
        The bound: 0 for "better", minus the margin for "at most so much worse".
    waiting : mapping of Run to float
        What is declared and not played, and the seconds that a run of the same row took.
    """

    name: str
    difference: Difference
    planned: int
    above: float = 0.0
    waiting: Mapping[Run, float] = field(default_factory=dict)

    @property
    def can_decide(self) -> bool:
        """Whether enough seeds are declared; they may still have to be played."""
        return self.planned >= SEEDS_NEEDED

    @property
    def has_seeds(self) -> bool:
        """Whether all declared seeds are played, and enough of them are declared."""
        return self.can_decide and self.planned <= self.difference.n

    @property
    def why_open(self) -> str:
        """Why the runs cannot decide, whatever they show; empty if they can."""
        if self.difference.n < self.planned:
            return f"{self.difference.n} of {self.planned} declared seeds"
        if not self.has_seeds:
            return f"{self.planned} declared seeds of the {SEEDS_NEEDED} needed"
        return "" if self.difference.varies else "the same difference with every seed, which shows no noise"

    @cached_property
    def p_true(self) -> float:
        """The p-value against "the difference is at most the bound"; nan if the runs cannot decide."""
        return nan if self.why_open else self.difference.p_above(self.above)

    @cached_property
    def p_false(self) -> float:
        """The p-value against "the difference is above the bound"; nan if the runs cannot decide."""
        return nan if self.why_open else self.difference.reversed().p_above(-self.above)

    @property
    def slack(self) -> float:
        """How far the mean is above the bound."""
        return self.difference.mean - self.above

    def __str__(self) -> str:
        return f"{self.name} {self.difference}"


def within(
    first: str,
    second: str,
    difference: Difference,
    planned: int,
    margin: float,
    *,
    waiting: Mapping[Run, float] | None = None,
) -> list[Comparison]:
    """Return "first and second differ by less than `margin` points" as two one-sided comparisons.

    Both have to hold (two one-sided tests), so a difference that the runs know too little about is not called none.
    """
    still = {} if waiting is None else waiting
    return [
        Comparison(f"{first} minus {second}", difference, planned, -margin, still),
        Comparison(f"{second} minus {first}", difference.reversed(), planned, -margin, still),
    ]


@dataclass(frozen=True)
class CheckedClaim:
    """A claim, checked in one place.

    Attributes
    ----------
    claim, says, where, encoder : str
        As in `Finding`.
    comparisons : tuple of Comparison
        The claim is true if all of them are.
    missing : mapping of str to tuple of str
        What the claim names and the records do not have: names by reason.
    vacuous : str
        Why the comparisons say nothing about the claim; empty if they do.
    headline, note : str
        Figures to put before and after the comparisons.
    family : str
        Claims that are read together: they share one chance of a wrong verdict.
    """

    claim: str
    says: str
    where: str
    encoder: str
    comparisons: tuple[Comparison, ...] = ()
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    vacuous: str = ""
    headline: str = ""
    note: str = ""
    family: str = ""

    @property
    def p_holds(self) -> float:
        """The p-value against "the claim is false"; nan if that cannot be tested.

        Every comparison has to hold, so the least convincing one counts and none is corrected (an
        intersection-union test).
        """
        values = [each.p_true for each in self.comparisons]
        return nan if self.missing or not values or any(map(isnan, values)) else max(values)

    @property
    def p_fails(self) -> float:
        """The p-value against "the claim is true"; nan if that cannot be tested.

        One comparison that fails is enough, so the most convincing one counts, corrected for their number.
        """
        adjusted = self.p_false_adjusted()
        return min(adjusted.values(), default=nan)

    def p_false_adjusted(self) -> dict[int, float]:
        """Return Holm-adjusted p-values against the comparisons, by place.

        Comparisons that are not played to their end, or that turn out not to vary, have no p-value, but count: their
        number is what was planned, whatever is finished first.
        """
        places = [place for place, each in enumerate(self.comparisons) if each.can_decide]
        values = [self.comparisons[place].p_false for place in places]
        adjusted = holm([1.0 if isnan(value) else value for value in values])
        triples = zip(places, values, adjusted, strict=True)
        return {place: corrected for place, value, corrected in triples if not isnan(value)}

    def price(self) -> str:
        """Say what it would cost to play what is declared; empty if all of it is played."""
        runs = {run: seconds for each in self.comparisons for run, seconds in each.waiting.items()}
        if not runs:
            return ""
        minutes = max(1, round(sum(runs.values()) / 60))
        cost = f"{minutes / 60:.1f} hours" if minutes > 9 else _counted(minutes, "minute")
        return f"{_counted(len(runs), 'more run')}, about {cost} of one process"

    def lacks(self) -> str:
        """Say what is missing."""
        parts = (f"{', '.join(subjects)}: {reason}" for reason, subjects in self.missing.items() if subjects)
        return "; ".join([*parts, *(reason for reason, subjects in self.missing.items() if not subjects)])


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
