"""Gaussian naive Bayes on running means and variances."""

from typing import Literal, Self

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.paper.moments import ClassMoments
from i2cansay.core.part_bytes import linear_bytes, moments_bytes
from i2cansay.core.statistics.total_moments import TotalMoments
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.lazy import Cached
from i2cansay.learners.merging import merge_into
from i2cansay.learners.parameters import check_choice, check_positive

# Rows scored at a time, so that float64 copies of the features and their squares stay small.
BLOCK = 4096


class _Densities:
    """The log-densities of all classes as two products: of the features and of their squares."""

    def __init__(self, moments: ClassMoments, centre: Float64, smoothing: float, log_prior: Float64) -> None:
        variance = moments.m2 / moments.count[:, None] + smoothing
        # Without any spread at all every variance is zero: all samples are one point, and any width will do.
        variance = np.where(variance > np.finfo(np.float64).tiny, variance, 1.0)
        mean = moments.mean - centre
        self._centre = centre
        self._precision = 1.0 / variance
        self._linear = mean * self._precision
        constant = np.log(2 * np.pi * variance).sum(axis=1) + np.einsum("cd,cd->c", mean, self._linear)
        self._constant: Float64 = log_prior - 0.5 * constant

    def log_likelihood(self, X: Features) -> Float64:
        """Return the log of prior times density of each row, (n, d), in each class, (n, c)."""
        scores = np.empty((len(X), len(self._constant)))
        for start in range(0, len(X), BLOCK):
            x = X[start : start + BLOCK] - self._centre
            block = inner(x, self._linear)
            block -= 0.5 * inner(x * x, self._precision)
            scores[start : start + BLOCK] = block
        scores += self._constant
        return scores


class OnlineGaussianNB(OnlineClassifier):
    """A normal distribution per class and dimension; order and batches make no difference.

    Equal to scikit-learn's `GaussianNB.fit` on the same samples. (Its `partial_fit` smooths by the variance
    of the last batch; here it is the variance of all samples so far.)

    Parameters
    ----------
    var_smoothing : float
        This share of the largest variance of any dimension is added to all variances.
    prior : {"empirical", "uniform"}
        Whether classes have prior probabilities in proportion to their samples, or equal ones.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OnlineGaussianNB(var_smoothing=0.01).partial_fit(X[:1500], y[:1500])
    >>> model.score(X[1500:], y[1500:]) > 0.8  # about 0.85
    True
    """

    summary = "Gaussian naive Bayes"
    parts = ("_moments", "_together")
    caches = ("_rule",)
    order_free = True

    def __init__(
        self, *, var_smoothing: float = 1e-9, prior: Literal["empirical", "uniform"] = "empirical"
    ) -> None:
        self.var_smoothing = var_smoothing
        self.prior = prior

    def _check_parameters(self) -> None:
        check_positive(var_smoothing=self.var_smoothing)
        check_choice("prior", self.prior, ("empirical", "uniform"))

    def _start(self, n_features: int) -> None:
        self._moments = ClassMoments(n_features)
        # The smoothing and the centre stay as they are when a class is forgotten.
        self._together = TotalMoments(n_features)
        self._rule: Cached[_Densities] = Cached()

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        known = moments_bytes(n_features, n_classes) + moments_bytes(n_features, 1)
        return known + 2 * linear_bytes(n_features, n_classes)  # precisions, and means times them

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        self._moments.add(X, rows, weights)
        self._together.add(X, weights)

    def _scores(self, X: Features) -> Features:
        return self._rule.get(self._densities).log_likelihood(X)

    def _densities(self) -> _Densities:
        count, total = self._moments.count, self._together.count
        smoothing = self.var_smoothing * float(self._together.m2.max()) / total
        log_prior = np.log(count / total) if self.prior == "empirical" else np.zeros(len(count))
        return _Densities(self._moments, self._together.mean.copy(), smoothing, log_prior)

    def merge(self, other: "OnlineGaussianNB") -> Self:
        """Add what another learner of the same parameters has learnt, exactly; `other` is not changed."""

        def take(rows: Rows) -> None:
            self._moments.merge(other._moments.read(), rows)
            self._together.merge(other._together)

        merge_into(self, other, take)
        return self
