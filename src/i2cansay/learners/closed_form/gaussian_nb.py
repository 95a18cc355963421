"""Gaussian naive Bayes on running means and variances."""

from typing import Literal, Self

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.paper.moments import ClassMoments, Moments
from i2cansay.core.part_bytes import linear_bytes, moments_bytes
from i2cansay.core.types import Features, Float64, Rows, State
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
    """A normal distribution per class and dimension; any order and any batches give the same ones.

    Equal to scikit-learn's `GaussianNB.fit` on the same samples. (Its `partial_fit` smooths by the variance
    of the last batch; here it is that of everything that has passed.)

    Parameters
    ----------
    var_smoothing : float
        This share of the largest variance of any dimension is added to all variances.
    prior : {"empirical", "uniform"}
        Whether a class seen more often is more likely from the outset.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OnlineGaussianNB(var_smoothing=0.01).partial_fit(X[:1500], y[:1500])
    >>> model.score(X[1500:], y[1500:]) > 0.8  # about 0.85
    True
    """

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
        # Of all samples as one class: gives the smoothing and a centre that stay when a class is forgotten.
        self._together = ClassMoments(n_features)
        self._together.resize(1)
        self._rule: Cached[_Densities] = Cached()

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        known = moments_bytes(n_features, n_classes) + moments_bytes(n_features, 1)
        return known + 2 * linear_bytes(n_features, n_classes)  # precisions, and means times them

    def _grow(self, n_classes: int) -> None:
        self._moments.resize(n_classes)
        self._rule.clear()

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        self._moments.add(X, rows, weights)
        self._together.add(X, np.zeros(len(X), dtype=np.int64), weights)
        self._rule.clear()

    def _scores(self, X: Features) -> Features:
        return self._rule.get(self._densities).log_likelihood(X)

    def _densities(self) -> _Densities:
        count, total = self._moments.count, self._together.count[0]
        smoothing = self.var_smoothing * float(self._together.m2[0].max()) / total
        log_prior = np.log(count / total) if self.prior == "empirical" else np.zeros(len(count))
        return _Densities(self._moments, self._together.mean[0].copy(), smoothing, log_prior)

    def merge(self, other: "OnlineGaussianNB") -> Self:
        """Take in what another learner of the same parameters was taught, exactly; `other` is not changed."""
        merge_into(self, other, lambda rows: self._take_in(other, rows))
        self._rule.clear()
        return self

    def _take_in(self, other: "OnlineGaussianNB", rows: Rows) -> None:
        for mine, theirs, at in (
            (self._moments, other._moments, rows),
            (self._together, other._together, np.zeros(1, dtype=np.int64)),
        ):
            mine.merge(Moments(theirs.count, theirs.mean, theirs.m2), at)

    def _drop(self, row: int) -> None:
        self._moments.drop(row)
        self._rule.clear()

    def _state(self) -> State:
        together = {f"together.{name}": array for name, array in self._together.state().items()}
        return {**self._moments.state(), **together}

    def _restore(self, state: State) -> None:
        self._moments = ClassMoments.from_state(state)
        self._together = ClassMoments.from_state({n: state[f"together.{n}"] for n in ("count", "mean", "m2")})
        shapes = self._moments.mean.shape, self._together.mean.shape
        expected = (len(self._labels), self.n_features_in_), (1, self.n_features_in_)
        if shapes != expected:
            raise ValueError(f"expected statistics of shapes {expected}, got {shapes}")
