"""Ridge regression on a random lift of the features: what RanPAC, GACL, F-OAL and AIR have in common."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.part_bytes import linear_bytes, ridge_bytes
from i2cansay.core.state_parts import StatePart
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


class Accumulated(StatePart, Protocol):
    """Statistics of the lifted samples, from which the regression is solved."""

    def add(self, X: Features, classes: Rows, weights: Float64 | None = None) -> None:
        """Add samples, (n, d), of the given classes, (n,)."""

    def merge(self, other: Any, rows: Rows) -> None:
        """Add the samples of `other`, whose class i is class ``rows[i]`` here."""


class LiftedRidge(OnlineClassifier):
    """Regresses onto the classes, without intercept, from ``g(f R)``: R is drawn once, g acts on every entry.

    Order and batches make no difference. R itself is drawn again from the seed and never saved.
    """

    parts: ClassVar[tuple[str, ...]] = ("_projection", "_statistics")
    caches = ("_rule",)
    order_free = True
    lazy = True
    size_advice = "fewer n_projections"
    structural: ClassVar[tuple[str, ...]] = ("n_projections",)

    # Parameters of all.
    n_projections: int
    penalty: float | Literal["gcv"]
    relative: bool
    random_state: Any

    # Made by `_start`.
    _statistics: Accumulated

    @abstractmethod
    def _draw(self, rng: np.random.Generator) -> Float64:
        """Return R transposed, (n_projections, width)."""

    @abstractmethod
    def _activate(self, projected: Float64) -> Float64:
        """Return g of every entry; may change its argument."""

    def _prepare(self, X: Features) -> Features:
        """Return what is projected, (n, width)."""
        return X

    def _check_parameters(self) -> None:
        check_penalty(self.penalty)
        check_whole(n_projections=self.n_projections, at_least=1)

    def _start(self, n_features: int) -> None:
        self._projection: SeededDraw[Float64] = SeededDraw(self.random_state)
        self._statistics = RidgeStatistics(self.n_projections)
        self._rule: Cached[RidgeSolution] = Cached()

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        width = self.n_projections
        return ridge_bytes(width, n_classes) + linear_bytes(width, n_classes) + 8 * width * n_features

    def _lift(self, X: Features) -> Float64:
        """Return the lifted samples, (n, n_projections)."""
        projected = inner(self._prepare(X), self._projection.get(self._draw))
        return self._activate(np.asarray(projected, dtype=np.float64))

    def _lifted_blocks(self, X: Features) -> Iterator[tuple[slice, Float64]]:
        """Yield the rows of `X` a few at a time: where they are, and their lift."""
        for start in range(0, len(X), BLOCK):
            block = slice(start, start + BLOCK)
            yield block, self._lift(X[block])

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        for block, lifted in self._lifted_blocks(X):
            self._statistics.add(lifted, rows[block], None if weights is None else weights[block])

    def _scores(self, X: Features) -> Features:
        rule = self._rule.get(self._solve).rule
        scores = np.empty((len(X), len(self._labels)))
        for block, lifted in self._lifted_blocks(X):
            scores[block] = rule.of(lifted)
        return scores

    def _solve(self) -> RidgeSolution:
        return solve_ridge(self._ridge_statistics(), self.penalty, relative=self.relative, intercept=False)

    def _ridge_statistics(self) -> RidgeStatistics:
        """Return what the regression is solved from."""
        assert isinstance(self._statistics, RidgeStatistics)
        return self._statistics

    @property
    def penalty_(self) -> float:
        """The penalty of the present solution."""
        self._check_ready()
        return self._rule.get(self._solve).penalty

    def merge(self, other: Self) -> Self:
        """Add what another learner with the same projection has learnt, exactly; `other` is not changed."""
        check_mergeable(self, other)
        if self._started and other._started:
            self._check_same_features(other)
        merge_into(self, other, lambda rows: self._statistics.merge(other._statistics, rows))
        return self

    def _check_same_features(self, other: Self) -> None:
        if self._projection.seed != other._projection.seed:
            raise ValueError("the two learners have different projections; give both the same random_state")


def uniform_projection(rng: np.random.Generator, n_projections: int, width: int) -> Float64:
    """Return R transposed, (n_projections, width), as a linear layer without bias begins: uniform, variance 1/3d.

    Examples
    --------
    >>> drawn = uniform_projection(np.random.default_rng(0), 1000, 4)
    >>> drawn.shape, bool(np.abs(drawn).max() <= 0.5), round(float(drawn.var() * 12), 1)
    ((1000, 4), True, 1.0)
    """
    bound = 1 / np.sqrt(width)
    return rng.uniform(-bound, bound, (n_projections, width))
