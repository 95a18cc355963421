"""The closed form of linear discriminant analysis as lessons pass: solved on demand, or updated by small lessons.

What is asked is solved anew from the statistics, with the shrinkage that they ask for, and depends on nothing else.
Only lessons of few samples hold the ridge (`held_ridge`); what was solved with it then follows each of them
(`running_solution`).
"""

from collections.abc import Callable
from typing import NamedTuple

from i2cansay.core.statistics.discriminant import ShrunkMeans, shrink_means
from i2cansay.core.statistics.ridged_covariance import RidgedCovariance
from i2cansay.core.statistics.scatter import SharedScatter
from i2cansay.core.types import Features, Float64, Rows, State
from i2cansay.learners.shared.held_ridge import HeldRidge
from i2cansay.learners.shared.relative_distance import Covariance, ShrunkCovariance
from i2cansay.learners.shared.running_solution import RunningCovariance, RunningSolution


class Solution(NamedTuple):
    """The scores, the covariance they were solved with, and the products of the means where they are known."""

    closed_form: ShrunkMeans
    covariance: Covariance
    products: Float64 | None = None


class ClosedForm:
    """Takes lessons into a scatter and solves for it; its own part of the state is the ridge, while one is held.

    Examples
    --------
    >>> import numpy as np
    >>> scatter, closed_form = SharedScatter(2), ClosedForm(n_blocks=1)
    >>> scatter.resize(2)
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 5.0], [6.0, 6.0]]), np.array([0, 0, 1, 1])
    >>> closed_form.learn(scatter, X, y, None, shrinkage=lambda: 0.1)
    >>> solution = closed_form.solve(scatter, lambda: 0.1, strength=0.02, empirical_prior=False)
    >>> solution.closed_form.scores.of(np.array([[0.0, 0.0], [7.0, 5.0]])).argmax(axis=1)
    array([0, 1])
    """

    def __init__(self, n_blocks: int) -> None:
        self._held, self._running = HeldRidge(n_blocks), RunningSolution()

    def learn(
        self,
        scatter: SharedScatter,
        X: Features,
        rows: Rows,
        weights: Float64 | None,
        shrinkage: Callable[[], float],
    ) -> None:
        """Add samples, (n, d), of the classes `rows`, (n,), to `scatter`, and to what was solved for it.

        Parameters
        ----------
        shrinkage : function
            Returns the shrinkage as the statistics ask for it now; called only where a ridge is chosen.
        """
        before, after = self._running, RunningSolution()
        try:
            gained = scatter.gain(X, rows, weights)
            if self._held.learn(scatter, len(X), shrinkage):
                after = before.following(gained, rows, scatter)
        finally:  # also where it was interrupted; what others asked for meanwhile is not kept
            self._running = after

    def solve(
        self,
        scatter: SharedScatter,
        shrinkage: Callable[[], float],
        strength: float,
        *,
        empirical_prior: bool,
    ) -> Solution:
        """Return the solution for `scatter`, with class means shrunk by `strength`."""
        if self._held.ridge is None:
            exact = ShrunkCovariance(scatter, shrinkage())
            scores = shrink_means(scatter, exact.shrinkage, strength, empirical_prior=empirical_prior)
            return Solution(scores, exact)
        held = RunningCovariance(RidgedCovariance(scatter, self._held.ridge), self._running)
        scores, products = self._running.closed_form(
            scatter, held.ridged, strength, empirical_prior=empirical_prior
        )
        return Solution(scores, held, products)

    def shrinkage(self, scatter: SharedScatter, shrinkage: Callable[[], float]) -> float:
        """Return the share of the sphere as `solve` uses it: what the ridge comes to now, where one is held."""
        ridge = self._held.ridge
        return shrinkage() if ridge is None else RidgedCovariance(scatter, ridge).shrinkage

    def let_go(self) -> None:
        """Hold no ridge any more, so that the next answer is solved anew."""
        self._held.let_go()
        self._running = RunningSolution()

    def resize(self, n_classes: int) -> None:
        """Do nothing: classes join with their first sample."""

    def drop(self, row: int) -> None:
        """Let go: with a class less another ridge may be the best, and its weights are to be forgotten."""
        self.let_go()

    def state(self) -> State:
        """Return the ridge; nothing where none is held."""
        return self._held.state()

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` gave."""
        self.let_go()
        self._held.restore(state)
