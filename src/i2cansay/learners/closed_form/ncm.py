"""Nearest class mean: a sample belongs to the class whose running mean is nearest."""

from typing import Literal, Self

import numpy as np

from i2cansay.core.part_bytes import linear_bytes, means_bytes
from i2cansay.core.statistics.linear_scores import LinearScores
from i2cansay.core.statistics.means import ClassMeans
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.lazy import Cached
from i2cansay.learners.merging import merge_into
from i2cansay.learners.parameters import check_choice


class NearestClassMean(OnlineClassifier):
    """Keeps the mean of every class; order and batches make no difference.

    Parameters
    ----------
    metric : {"euclidean", "cosine"}
        "euclidean" scores by the negative squared distance to the mean, less a term common to all classes;
        "cosine" by the cosine of the angle between sample and mean, seen from the origin.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = NearestClassMean().partial_fit(X[:1500], y[:1500])
    >>> model.score(X[1500:], y[1500:]) > 0.8  # about 0.85
    True
    """

    summary = "nearest class mean"
    parts = ("_means",)
    caches = ("_rule",)
    order_free = True

    def __init__(self, *, metric: Literal["euclidean", "cosine"] = "euclidean") -> None:
        self.metric = metric

    def _check_parameters(self) -> None:
        check_choice("metric", self.metric, ("euclidean", "cosine"))

    def _start(self, n_features: int) -> None:
        self._means = ClassMeans(n_features)
        self._rule: Cached[LinearScores] = Cached()

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        return means_bytes(n_features, n_classes) + linear_bytes(n_features, n_classes)

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        self._means.add(X, rows, weights)

    def _scores(self, X: Features) -> Features:
        scores = self._rule.get(self._make_rule).of(X)
        if self.metric == "cosine":
            scores /= _safe_norm(X)[:, None]
        return scores

    def _make_rule(self) -> LinearScores:
        if self.metric == "cosine":
            directions = self._means.mean / _safe_norm(self._means.mean)[:, None]
            return LinearScores(np.zeros(directions.shape[1]), directions, np.zeros(len(directions)))
        means = self._means.from_centre()
        return LinearScores(self._means.centre.copy(), 2 * means, -np.einsum("cd,cd->c", means, means))

    def merge(self, other: "NearestClassMean") -> Self:
        """Add what another learner of the same parameters has learnt, exactly; `other` is not changed."""
        merge_into(self, other, lambda rows: self._means.merge(other._means, rows))
        return self


def _safe_norm(X: Features) -> Float64:
    """Return the length of each row, (n,), or 1 for a row of zeros, which has no direction."""
    largest = np.abs(X).max(axis=1, keepdims=True).astype(np.float64)
    largest[largest == 0] = 1.0
    # Scaled first: the squares of very small numbers are zero.
    scaled = X / largest
    length: Float64 = np.sqrt(np.einsum("nd,nd->n", scaled, scaled)) * largest[:, 0]
    return np.where(length > 0, length, 1.0)
