"""Streaming linear discriminant analysis: class means and one covariance shared by all classes."""

from typing import Literal, Self

from numpy.typing import ArrayLike

from i2cansay.core.part_bytes import linear_bytes, scatter_bytes
from i2cansay.core.statistics.discriminant import discriminant
from i2cansay.core.statistics.linear_scores import LinearScores
from i2cansay.core.statistics.scatter import SharedScatter, oas_shrinkage
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.lazy import Cached
from i2cansay.learners.merging import merge_into
from i2cansay.learners.parameters import check_choice


class StreamingLDA(OnlineClassifier):
    """Linear discriminant analysis that learns at any time; order and batches make no difference.

    The covariance is ``A = (1 - e) S/N + e tr(S/N)/d I`` with S the scatter of all samples around the final
    means of their classes, and the score of class c is ``f A^-1 p_c - p_c A^-1 p_c / 2``, less a term common
    to all classes. A is factorised at the first prediction after something was learnt.

    Parameters
    ----------
    epsilon : float
        The shrinkage e of the covariance, above 0 and at most 1, for ``shrinkage="fixed"``.
    shrinkage : {"fixed", "oas"}
        "oas" takes e from the scatter itself (oracle approximating shrinkage).
    prior : {"uniform", "empirical"}
        Whether classes have equal prior probabilities, or in proportion to their samples.

    Notes
    -----
    Hayes and Kanan (2020) add ``e I`` regardless of the features' scale; here e is in units of their mean
    variance. `forget` removes the mean of a class; what its samples told about the shared covariance stays
    in it.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = StreamingLDA(epsilon=0.01).partial_fit(X[:1500], y[:1500])
    >>> model.score(X[1500:], y[1500:]) > 0.85  # about 0.91
    True
    """

    summary = "streaming linear discriminant analysis"
    parts = ("_scatter",)
    caches = ("_rule",)
    order_free = True
    lazy = True

    def __init__(
        self,
        *,
        epsilon: float = 1e-4,
        shrinkage: Literal["fixed", "oas"] = "fixed",
        prior: Literal["uniform", "empirical"] = "uniform",
    ) -> None:
        self.epsilon = epsilon
        self.shrinkage = shrinkage
        self.prior = prior

    def _check_parameters(self) -> None:
        check_choice("shrinkage", self.shrinkage, ("fixed", "oas"))
        check_choice("prior", self.prior, ("uniform", "empirical"))
        if not 0 < self.epsilon <= 1:
            raise ValueError(f"epsilon must be above 0 and at most 1, got {self.epsilon!r}")

    def _start(self, n_features: int) -> None:
        self._scatter = SharedScatter(n_features)
        self._rule: Cached[LinearScores] = Cached()

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        return scatter_bytes(n_features, n_classes) + linear_bytes(n_features, n_classes)

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        self._scatter.add(X, rows, weights)

    def _scores(self, X: Features) -> Features:
        return self._rule.get(self._solve).of(X)

    @property
    def shrinkage_(self) -> float:
        """The present shrinkage e of the covariance."""
        if self.shrinkage == "fixed":
            return self.epsilon
        return oas_shrinkage(self._scatter.matrix, self._scatter.means.total)

    @property
    def class_counts_(self) -> Float64:
        """Samples taught per class, (n_classes,), in the order of `classes_`."""
        return self._scatter.means.count[self._labels.order]

    @property
    def class_means_(self) -> Float64:
        """Means, (n_classes, d), in the order of `classes_`."""
        return self._scatter.means.mean[self._labels.order]

    def _solve(self) -> LinearScores:
        return discriminant(self._scatter, self.shrinkage_, empirical_prior=self.prior == "empirical")

    def merge(self, other: "StreamingLDA") -> Self:
        """Add what another learner of the same parameters has learnt, exactly; `other` is not changed."""
        merge_into(self, other, lambda rows: self._scatter.merge(other._scatter, rows))
        return self

    def unlearn(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Remove samples that were learnt, (n, d) with labels (n,), exactly.

        A class that has no sample left is forgotten. What was learnt from scoring them stays: the temperature of
        `predict_proba`, and how many samples have passed.

        Exactly means that the statistics are those of the other samples alone, up to a millionth of their spread.
        Where an outlier has left more rounding than that, a ValueError says so and nothing changes.
        """
        X, rows, weights = self._check_taught(X, y, sample_weight)
        self._scatter.subtract(X, rows, weights)
        self._clear_caches()
        for label in self._labels.arrived()[self._scatter.means.count == 0].tolist():
            self.forget(label)
        return self
