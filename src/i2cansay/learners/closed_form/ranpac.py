"""RanPAC: ridge regression on a random, rectified projection of the features."""

from types import MappingProxyType
from typing import Any, Literal, Self

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.part_bytes import linear_bytes, ridge_bytes
from i2cansay.core.statistics.ridge_statistics import RidgeStatistics
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.closed_form.ridge_solution import RidgeSolution, check_penalty, solve_ridge
from i2cansay.learners.lazy import Cached
from i2cansay.learners.merging import check_mergeable, merge_into
from i2cansay.learners.parameters import check_whole
from i2cansay.learners.seeded_draw import SeededDraw

# Rows projected at a time: 40 MB at 10,000 projections, and enough to keep the product with itself busy.
BLOCK = 512


class RanPAC(OnlineClassifier):
    """Projects features to ``ReLU(f R)``, R drawn once from N(0, 1), and regresses onto the classes there.

    As in McDonnell et al. (2023) there is no intercept. Order and batches make no difference.

    Parameters
    ----------
    n_projections : int
        Width M of the projection; 10,000 as published. The state is M^2/2 numbers of 8 bytes (400 MB at
        10,000, 100 MB at 5,000), with about twice as much again while it is solved; a solution takes M^3/3
        multiply-adds (some 20 s at 10,000 on two cores).
    penalty : float or "gcv"
        Of the regression. "gcv", the default, chooses it by generalised cross-validation from the accumulated
        statistics, where the publication holds samples out; that takes some five times the time of a solution.
        A number is by default in units of the mean square of a projected feature.
    relative : bool
        False takes a number `penalty` as it is.
    random_state : int, Generator, RandomState or None
        Seed of the projection. R itself is drawn again from the seed and never saved.

    Notes
    -----
    Generalised cross-validation judges by squared error, not by accuracy, and chooses rather strong penalties.
    docs/shared-mode.md has "gcv" beside 1,000, which held-out training samples prefer to most others
    (docs/shared-mode-details.md).

    The statistics are float64: in float32 the sum over a long stream loses the small eigenvalues that the
    penalty is there to weigh, and the result would depend on the order. `forget` removes the targets of a
    class; its samples stay in the Gram matrix.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = RanPAC(n_projections=500, random_state=0).partial_fit(X[:1500], y[:1500])
    >>> model.score(X[1500:], y[1500:]) > 0.88  # about 0.93
    True
    """

    summary = "random projection and ridge regression"
    small_parameters = MappingProxyType({"n_projections": 40})
    parts = ("_projection", "_statistics")
    caches = ("_rule",)
    order_free = True
    lazy = True
    size_advice = "fewer n_projections"

    def __init__(
        self,
        *,
        n_projections: int = 10_000,
        penalty: float | Literal["gcv"] = "gcv",
        relative: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_projections = n_projections
        self.penalty = penalty
        self.relative = relative
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_penalty(self.penalty)
        check_whole(n_projections=self.n_projections, at_least=1)

    def _start(self, n_features: int) -> None:
        self._projection: SeededDraw[Float64] = SeededDraw(self.random_state)
        self._statistics = RidgeStatistics(self.n_projections)
        self._rule: Cached[RidgeSolution] = Cached()

    def _project(self, X: Features) -> Float64:
        """Return ``ReLU(X R)``, (n, n_projections)."""
        lifted = np.asarray(inner(X, self._projection.get(self._draw)), dtype=np.float64)
        return np.maximum(lifted, 0.0, out=lifted)

    def _draw(self, rng: np.random.Generator) -> Float64:
        return rng.standard_normal((self.n_projections, self.n_features_in_))

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        width = self.n_projections
        return ridge_bytes(width, n_classes) + linear_bytes(width, n_classes) + 8 * width * n_features

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        for start in range(0, len(X), BLOCK):
            block = slice(start, start + BLOCK)
            self._statistics.add(
                self._project(X[block]), rows[block], None if weights is None else weights[block]
            )

    def _scores(self, X: Features) -> Features:
        rule = self._rule.get(self._solve).rule
        scores = np.empty((len(X), len(self._labels)))
        for start in range(0, len(X), BLOCK):
            scores[start : start + BLOCK] = rule.of(self._project(X[start : start + BLOCK]))
        return scores

    def _solve(self) -> RidgeSolution:
        return solve_ridge(self._statistics, self.penalty, relative=self.relative, intercept=False)

    @property
    def penalty_(self) -> float:
        """The penalty of the present solution."""
        self._check_ready()
        return self._rule.get(self._solve).penalty

    def merge(self, other: "RanPAC") -> Self:
        """Add what another learner with the same projection has learnt, exactly; `other` is not changed."""
        check_mergeable(self, other)
        if self._started and other._started:
            self._check_same_features(other)
        merge_into(self, other, lambda rows: self._statistics.merge(other._statistics, rows))
        return self

    def _check_same_features(self, other: Self) -> None:
        if self._projection.seed != other._projection.seed:
            raise ValueError("the two learners have different projections; give both the same random_state")
