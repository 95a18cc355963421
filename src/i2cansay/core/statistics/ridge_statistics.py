"""Ridge regression onto the classes from accumulated statistics: the same solution for any order and any batches.

Symbols: G -> the Gram matrix of the features, Q -> the sums of the features by class, l -> penalty. G is kept
centred on the mean of all samples and Q as counts and means: the same numbers without the cancellation of
large means.
"""

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.linalg.symmetric import SymmetricMatrix
from i2cansay.core.state_parts import add_prefix, strip_prefix
from i2cansay.core.statistics.cross_validation import cross_validated_ridge
from i2cansay.core.statistics.linear_scores import LinearScores
from i2cansay.core.statistics.means import ClassMeans
from i2cansay.core.statistics.scatter import NO_SPREAD, SharedScatter
from i2cansay.core.types import Features, Float64, Rows, State


class RidgeStatistics:
    """The sufficient statistics of ridge regression onto one-hot targets.

    Examples
    --------
    >>> statistics = RidgeStatistics(n_features=1)
    >>> statistics.resize(2)
    >>> statistics.add(np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1]))
    >>> statistics.solve(penalty=1.0, relative=False, intercept=True).of(np.array([[0.0], [2.5]])).round(2)
    array([[ 1.06, -0.06],
           [ 0.5 ,  0.5 ]])
    """

    def __init__(self, n_features: int) -> None:
        self.classes = ClassMeans(n_features)
        self.together = SharedScatter(n_features)  # all samples as one class: the centred Gram matrix
        self.together.resize(1)

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` classes."""
        self.classes.resize(n_classes)

    def drop(self, row: int) -> None:
        """Remove the targets of one class; its samples stay in the Gram matrix, of no class."""
        self.classes.drop(row)

    def add(self, X: Features, classes: Rows, weights: Float64 | None = None) -> None:
        """Add samples, (n, d), of the given classes, (n,)."""
        self.classes.add(X, classes, weights)
        self.together.add(X, np.zeros(len(X), dtype=np.int64), weights)

    def merge(self, other: "RidgeStatistics", rows: Rows) -> None:
        """Add the samples of `other`, whose class i is class ``rows[i]`` here."""
        self.classes.merge(other.classes, rows)
        self.together.merge(other.together, np.zeros(1, dtype=np.int64))

    def solve(self, *, penalty: float, relative: bool, intercept: bool) -> LinearScores:
        """Return the regression ``(G + l I)^-1 Q``.

        Parameters
        ----------
        penalty : float
            l; where `relative`, in units of the mean square of a feature (the mean variance, with intercept).
        intercept : bool
            Whether to centre features and targets first, so that the penalty does not touch the constant.
        """
        gram, sums = self._products(intercept)
        unit = self._unit(gram) if relative else 1.0
        # Samples that are all the same point carry no information, whatever the penalty.
        weights = gram.solve(sums, shift=penalty * unit if unit > NO_SPREAD else 1.0)
        return self._rule(weights, intercept)

    def solve_cross_validated(self, *, intercept: bool) -> tuple[LinearScores, float]:
        """Return the regression with the least generalised cross-validation error, and its relative penalty.

        Only the statistics are needed, see `cross_validation`. The time is that of some five solutions.
        """
        gram, sums = self._products(intercept)
        unit, count, total = self._unit(gram), self.classes.count, self.together.means.total
        if not unit > NO_SPREAD:
            return self.solve(penalty=1.0, relative=True, intercept=intercept), 1.0
        # The sum of the squared one-hot targets, around their means where there is an intercept.
        squares = float((count * (1 - count / total) if intercept else count).sum())
        best = cross_validated_ridge(
            gram, lambda: [sums], squares=squares, n=total, unit=unit, fitted=1.0 if intercept else 0.0
        )
        return self._rule(best.weights, intercept), best.penalty

    def squared_error(self, rule: LinearScores) -> float:
        """Return the sum over these samples and all classes of the squared error of a regression without intercept.

        Examples
        --------
        >>> statistics = RidgeStatistics(n_features=1)
        >>> statistics.resize(1)
        >>> statistics.add(np.array([[1.0], [3.0]]), np.array([0, 0]))
        >>> rule = LinearScores(np.zeros(1), np.array([[0.5]]), np.zeros(1))  # 0.5 and 1.5 in place of 1
        >>> round(statistics.squared_error(rule), 9)
        0.5
        """
        gram, sums = self._products(intercept=False)
        explained = float(np.einsum("cd,cd->", rule.weights, sums))
        lengths = float(np.einsum("cd,cd->", inner(rule.weights, gram.dense()), rule.weights))
        return max(float(self.classes.count.sum()) - 2 * explained + lengths, 0.0)

    def _products(self, intercept: bool) -> tuple[SymmetricMatrix, Float64]:
        """Return G and Q, around the mean of all samples where there is an intercept."""
        count, centre = self.classes.count, self.together.means.mean[0]
        if intercept:
            return self.together.matrix, (self.classes.mean - centre) * count[:, None]
        gram = self.together.matrix.copy()
        gram.add_gram(centre[None] * np.sqrt(self.together.means.total))
        return gram, self.classes.mean * count[:, None]

    def _unit(self, gram: SymmetricMatrix) -> float:
        return gram.trace() / (self.together.means.total * gram.size)

    def _rule(self, weights: Float64, intercept: bool) -> LinearScores:
        centre = self.together.means.mean[0]
        if intercept:
            return LinearScores(centre.copy(), weights, self.classes.count / self.together.means.total)
        return LinearScores(np.zeros_like(centre), weights, np.zeros(len(weights)))

    def state(self) -> State:
        """Return counts and means of the classes and, under `together.`, of all samples with their matrix."""
        return self.classes.state() | add_prefix("together", self.together.state())

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes of this width."""
        self.classes.restore(state, n_classes)
        self.together.restore(strip_prefix(state, "together"), 1)
