"""The latest samples of a stream in two parts, one to regress from and one to judge by, as statistics."""

import numpy as np

from i2cansay.core.state_parts import add_prefix, check_range, strip_prefix
from i2cansay.core.statistics.ridge_statistics import RidgeStatistics
from i2cansay.core.types import Features, Float64, Rows, State

EVERY = 5
"""One of so many samples is held out."""
PENALTIES = tuple(10.0**power for power in range(-8, 9))
"""Penalties that are tried, as published: decades, in the units of the features."""


class RecentSplit:
    """Ridge statistics of the samples since the window began, of which every fifth is held out.

    Once `window` samples have passed, the next one begins another window.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> recent = RecentSplit(n_features=3, window=100)
    >>> recent.resize(2)
    >>> y = np.arange(100) % 2
    >>> recent.add(rng.standard_normal((100, 3)), y)  # nothing to learn: the strongest penalty is the best
    >>> recent.best_penalty() > 1
    True
    >>> recent.add(y[:, None] + 0.01 * rng.standard_normal((100, 3)), y)  # another window
    >>> recent.best_penalty() < 1
    True
    """

    def __init__(self, n_features: int, window: int) -> None:
        self.n_features = n_features
        self.window = window
        self._n_classes = 0
        self._begin()

    def _begin(self) -> None:
        self.position = 0
        self.learnt, self.held = RidgeStatistics(self.n_features), RidgeStatistics(self.n_features)
        self.resize(self._n_classes)

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` classes."""
        self._n_classes = n_classes
        for part in (self.learnt, self.held):
            part.resize(n_classes)

    def drop(self, row: int) -> None:
        """Remove the targets of one class; its samples stay, as samples of no class."""
        self._n_classes -= 1
        for part in (self.learnt, self.held):
            part.drop(row)

    def add(self, X: Features, classes: Rows, weights: Float64 | None = None) -> None:
        """Add samples, (n, d), of the given classes, (n,), in the order of the stream."""
        start = 0
        while start < len(X):
            if self.position == self.window:
                self._begin()
            some = slice(start, min(len(X), start + self.window - self.position))
            held = (self.position + np.arange(some.stop - start)) % EVERY == EVERY - 1
            for part, chosen in ((self.held, held), (self.learnt, ~held)):
                if chosen.any():
                    part.add(
                        X[some][chosen],
                        classes[some][chosen],
                        None if weights is None else weights[some][chosen],
                    )
            self.position += some.stop - start
            start = some.stop

    def best_penalty(self) -> float | None:
        """Return the penalty whose regression on the one part has the least squared error on the other.

        None as long as one of them is empty. Of equally good penalties it is the smallest.
        """
        if not (self.learnt.together.means.total > 0 and self.held.together.means.total > 0):
            return None
        errors = [
            self.held.squared_error(self.learnt.solve(penalty=penalty, relative=False, intercept=False))
            for penalty in PENALTIES
        ]
        return PENALTIES[int(np.argmin(errors))]

    def state(self) -> State:
        """Return the statistics of both parts, under `learnt.` and `held.`, and the `position` in the window."""
        return {
            **add_prefix("learnt", self.learnt.state()),
            **add_prefix("held", self.held.state()),
            "position": np.array([self.position], dtype=np.int64),
        }

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes of this width."""
        self._n_classes = n_classes
        self.learnt.restore(strip_prefix(state, "learnt"), n_classes)
        self.held.restore(strip_prefix(state, "held"), n_classes)
        if state["position"].shape != (1,):
            raise ValueError("the position in the window should be one number")
        check_range("the position in the window", state["position"], 0, self.window)
        self.position = int(state["position"][0])
