"""Ridge regression onto the classes, from statistics accumulated as the stream passes."""

from typing import Literal, Self

from i2cansay.core.part_bytes import linear_bytes, ridge_bytes
from i2cansay.core.statistics.ridge_statistics import RidgeStatistics
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.closed_form.ridge_solution import RidgeSolution, check_penalty, solve_ridge
from i2cansay.learners.lazy import Cached
from i2cansay.learners.merging import merge_into


class RecursiveRidge(OnlineClassifier):
    """Regression onto one-hot targets, ``(G + l I)^-1 Q``; order and batches make no difference.

    Recursive least squares updates the solution sample by sample; here it is solved from the accumulated G and Q
    when scores are needed and something was learnt since: the same solution, without the drift of a recursion.

    Parameters
    ----------
    penalty : float or "gcv"
        l. By default in units of the mean variance of a feature (without intercept, of its mean square), so
        that the scale of the features does not matter; 1.0 is then as on standardised features. "gcv" chooses
        it by generalised cross-validation from the accumulated statistics.
    relative : bool
        False takes a number `penalty` as it is: `Ridge(alpha=penalty)` of scikit-learn on one-hot targets.
    fit_intercept : bool
        Whether to centre features and targets first.

    Notes
    -----
    `forget` removes the targets of a class; its samples stay in G, as samples of no class.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = RecursiveRidge().partial_fit(X[:1500], y[:1500])
    >>> model.score(X[1500:], y[1500:]) > 0.8  # about 0.86
    True
    """

    summary = "ridge regression from accumulated moments"
    parts = ("_statistics",)
    caches = ("_rule",)
    order_free = True
    lazy = True

    def __init__(
        self, *, penalty: float | Literal["gcv"] = 1.0, relative: bool = True, fit_intercept: bool = True
    ) -> None:
        self.penalty = penalty
        self.relative = relative
        self.fit_intercept = fit_intercept

    def _check_parameters(self) -> None:
        check_penalty(self.penalty)

    def _start(self, n_features: int) -> None:
        self._statistics = RidgeStatistics(n_features)
        self._rule: Cached[RidgeSolution] = Cached()

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        return ridge_bytes(n_features, n_classes) + linear_bytes(n_features, n_classes)

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        self._statistics.add(X, rows, weights)

    def _scores(self, X: Features) -> Features:
        return self._rule.get(self._solve).rule.of(X)

    def _solve(self) -> RidgeSolution:
        return solve_ridge(
            self._statistics, self.penalty, relative=self.relative, intercept=self.fit_intercept
        )

    @property
    def penalty_(self) -> float:
        """The penalty of the present solution."""
        self._check_ready()
        return self._rule.get(self._solve).penalty

    def merge(self, other: "RecursiveRidge") -> Self:
        """Add what another learner of the same parameters has learnt, exactly; `other` is not changed."""
        merge_into(self, other, lambda rows: self._statistics.merge(other._statistics, rows))
        return self
