"""Linear discriminant analysis on random Fourier features: the Gaussian kernel, in one pass and bounded memory."""

from types import MappingProxyType
from typing import Any, Self

import numpy as np

from i2cansay.core.part_bytes import linear_bytes, scatter_bytes
from i2cansay.core.statistics.discriminant import discriminant
from i2cansay.core.statistics.linear_scores import LinearScores
from i2cansay.core.statistics.scatter import SharedScatter, oas_shrinkage
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.closed_form.fourier_lift import FourierLift
from i2cansay.learners.lazy import Cached
from i2cansay.learners.merging import check_mergeable, merge_into
from i2cansay.learners.parameters import check_positive, check_whole


class RandomFourierLDA(OnlineClassifier):
    """Streaming LDA with OAS shrinkage on ``sqrt(2/M) cos(f R + b)``; order and batches make no difference.

    R and b are drawn once, such that the inner product of two lifted samples approximates the Gaussian kernel
    ``exp(-|f - g|^2 / (2 s^2))``. So does RanDumb; `KLDA` has several such lifts.

    Parameters
    ----------
    n_projections : int
        Width M of the lift. The state is M^2/2 numbers of 8 bytes (100 MB at 5,000, 400 MB at 10,000), a
        solution takes M^3/3 multiply-adds.
    bandwidth : float
        s, in units of the features as they enter the lift. With `normalize` two samples are at most 2 apart, so
        that a value can be named beforehand; a median of distances would depend on the samples that came first.
        4 is best on held-out training samples of CIFAR-10, CIFAR-100 and CUB-200 (`benchmarks/shared_choices.py`).
    normalize : bool
        Whether every sample is scaled to length one first. Without it, `bandwidth` is in the features' own units.
    random_state : int, Generator, RandomState or None
        Seed of the lift. R itself is drawn again from the seed and never saved.

    Notes
    -----
    `forget` removes the mean of a class; what its samples told about the shared covariance stays in it.

    References
    ----------
    Prabhu, Sinha, Kumaraguru, Torr, Sener, Dokania (2024), RanDumb: random representations outperform online
    continually learned representations, NeurIPS.
    Momeni, Mazumder, Liu (2025), Continual learning using a kernel-based method over foundation models, AAAI.
    Rahimi, Recht (2007), Random features for large-scale kernel machines, NIPS.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = RandomFourierLDA(n_projections=500, random_state=0).partial_fit(X[:1500], y[:1500])
    >>> model.score(X[1500:], y[1500:]) > 0.88  # about 0.93
    True
    """

    summary = "random Fourier features and LDA (RanDumb)"
    small_parameters = MappingProxyType({"n_projections": 40})
    parts = ("_waves", "_scatter")
    caches = ("_rule",)
    order_free = True
    lazy = True
    size_advice = "fewer n_projections"
    structural = ("n_projections", "bandwidth", "normalize")

    def __init__(
        self,
        *,
        n_projections: int = 5000,
        bandwidth: float = 4.0,
        normalize: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_projections = n_projections
        self.bandwidth = bandwidth
        self.normalize = normalize
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_positive(bandwidth=self.bandwidth)
        check_whole(n_projections=self.n_projections, at_least=1)

    def _start(self, n_features: int) -> None:
        self._waves = FourierLift(
            self.random_state,
            n_features=n_features,
            n_projections=self.n_projections,
            bandwidth=self.bandwidth,
            normalize=self.normalize,
        )
        self._scatter = SharedScatter(self.n_projections)
        self._rule: Cached[LinearScores] = Cached()

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        width = self.n_projections
        waves = 8 * width * (n_features + 1)
        return scatter_bytes(width, n_classes) + linear_bytes(width, n_classes) + waves

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        for block, lifted in self._waves.lifted_blocks(X):
            self._scatter.add(lifted, rows[block], None if weights is None else weights[block])

    def _scores(self, X: Features) -> Features:
        rule = self._rule.get(self._solve)
        scores = np.empty((len(X), len(self._labels)))
        for block, lifted in self._waves.lifted_blocks(X):
            scores[block] = rule.of(lifted)
        return scores

    @property
    def shrinkage_(self) -> float:
        """The present shrinkage of the covariance."""
        return oas_shrinkage(self._scatter.matrix, self._scatter.means.total)

    def _solve(self) -> LinearScores:
        return discriminant(self._scatter, self.shrinkage_)

    def merge(self, other: "RandomFourierLDA") -> Self:
        """Add what another learner with the same lift has learnt, exactly; `other` is not changed."""
        check_mergeable(self, other)
        if self._started and other._started:
            self._check_same_features(other)
        merge_into(self, other, lambda rows: self._scatter.merge(other._scatter, rows))
        return self

    def _check_same_features(self, other: Self) -> None:
        if self._waves.seed != other._waves.seed:
            raise ValueError("the two learners have different lifts; give both the same random_state")
