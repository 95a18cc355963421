"""One part of a data set: the statistics of its rows, and the rows of it that are held out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Features
from i2cansay.fitting.row_keys import HEAD, HELD_OUT, row_keys
from i2cansay.fitting.row_source import Labels, Numbers, RowSource, take_checked
from i2cansay.learners import make_learner
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.parts import absorb, begin_part

# Rows that are read and learnt at a time. One Gram matrix of as many rows as there are dimensions is about as fast
# for each row as one of more.
ROWS_AT_A_TIME = 4096


class Span(NamedTuple):
    """Rows `start` up to `stop` of a data set."""

    start: int
    stop: int


def spans(n: int, parts: int) -> list[Span]:
    """Divide `n` rows into parts of nearly the same size, none of them empty.

    Examples
    --------
    >>> spans(7, 3)
    [Span(start=0, stop=2), Span(start=2, stop=4), Span(start=4, stop=7)]
    """
    parts = min(parts, n)
    ends = [n * number // parts for number in range(parts + 1)]
    return [Span(*pair) for pair in pairwise(ends)]


class NumberedSamples(NamedTuple):
    """Rows as they are, (n, d), with their labels, (n,), and their numbers, (n,)."""

    X: Features
    y: Labels
    rows: Numbers

    def joined(self, other: NumberedSamples) -> NumberedSamples:
        """Return both, those of `other` behind these."""
        return NumberedSamples(
            np.concatenate([self.X, other.X]),
            np.concatenate([self.y, other.y]),
            np.concatenate([self.rows, other.rows]),
        )

    def ordered_by(self, keys: NDArray[Any]) -> NumberedSamples:
        """Return the samples in the order of keys, (n,)."""
        order = np.argsort(keys, kind="stable")
        return NumberedSamples(self.X[order], self.y[order], self.rows[order])


class Part(NamedTuple):
    """What one part gives: a learner that was taught it, and what was held out; None where there is nothing."""

    learner: OnlineClassifier | None
    held_out: NumberedSamples | None


@dataclass(frozen=True)
class PartPlan:
    """What every part has to know: where rows are, which learner, and which rows are for what.

    Parameters
    ----------
    rows : RowSource
    learner, parameters : of the learner, as `make_learner` takes them; it can be learnt in parts.
    look : (n, d) rows by which every part decides what a first batch would decide.
    held_out : share of the rows that are not learnt but returned.
    sampled : share of the other rows that the head is trained on.
    """

    rows: RowSource
    learner: str
    parameters: Mapping[str, Any]
    look: Features
    held_out: float = 0.0
    sampled: float = 0.0

    def learn(self, span: Span) -> Part:
        """Return the statistics of the rows of a part, and those of its rows that are held out."""
        learner, held = None, None
        for start in range(span.start, span.stop, ROWS_AT_A_TIME):
            numbers = np.arange(start, min(start + ROWS_AT_A_TIME, span.stop))
            X, y = take_checked(self.rows, numbers)
            out = row_keys(numbers, HELD_OUT) < self.held_out
            if out.any():
                some = NumberedSamples(X[out], y[out], numbers[out])
                held = some if held is None else held.joined(some)
            if not out.all():
                learner = self.untaught() if learner is None else learner
                absorb(learner, X[~out], y[~out])
        return Part(learner, held)

    def untaught(self) -> OnlineClassifier:
        """Return a learner that has begun and knows nothing."""
        return begin_part(make_learner(self.learner, **self.parameters), self.look)

    def sample(self, span: Span) -> NumberedSamples | None:
        """Return the rows of a part that the head is trained on; only these are read."""
        numbers = np.arange(span.start, span.stop)
        learnt = row_keys(numbers, HELD_OUT) >= self.held_out
        chosen = numbers[learnt & (row_keys(numbers, HEAD) < self.sampled)]
        return NumberedSamples(*take_checked(self.rows, chosen), chosen) if len(chosen) else None


def merge_parts(left: Part, right: Part) -> Part:
    """Return a part that stands for both; the learner of `left` takes in that of `right`."""
    learner = left.learner or right.learner
    if left.learner is not None and right.learner is not None:
        learner = left.learner.merge(right.learner)
    return Part(learner, join_samples(left.held_out, right.held_out))


def join_samples(left: NumberedSamples | None, right: NumberedSamples | None) -> NumberedSamples | None:
    """Return both, where there are both."""
    return left.joined(right) if left is not None and right is not None else left or right
