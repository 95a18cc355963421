"""AIR: ridge regression on a random lift in which every class counts alike, however many samples it has."""

from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from i2cansay.core.linalg.symmetric import SymmetricMatrix
from i2cansay.core.part_bytes import linear_bytes, means_bytes, scatter_bytes, triangle_bytes
from i2cansay.core.statistics.ridge_statistics import RidgeStatistics
from i2cansay.core.statistics.scatter import SharedScatter
from i2cansay.core.types import Float64
from i2cansay.learners.closed_form.class_scatter import ClassScatter
from i2cansay.learners.closed_form.lifted_ridge import LiftedRidge, uniform_projection
from i2cansay.learners.parameters import check_choice


class AIR(LiftedRidge):
    """Regresses onto the classes from ``ReLU(f R)``, where a sample of class c weighs ``m / n_c``.

    n_c is the number of samples of the class, and m the harmonic mean of these numbers: every class counts as m
    samples. Classes of equal size make it `GACL`. Order and batches make no difference.

    Parameters
    ----------
    n_projections : int
        Width M of the lift.
    covariance : {"common", "class"}
        The weights are known only at the end, so that the publication keeps a Gram matrix of every class: "class",
        M^2/2 numbers of 4 bytes each (5 GB for 100 classes at M = 5,000). "common" keeps one matrix, M^2/2 numbers
        of 8 bytes (100 MB): class means are weighted as published, and the scatter around them is taken to be that
        of all samples. The two are the same where classes have the same size or the same covariance.
    penalty : float or "gcv"
        Of the regression. "gcv" chooses it by generalised cross-validation from the weighted statistics.
    relative : bool
        Whether a number `penalty` is in units of the mean square of a lifted feature. False takes it as it is.
    random_state : int, Generator, RandomState or None
        Seed of the lift. R itself is drawn again from the seed and never saved.

    Notes
    -----
    `forget` removes a class; with ``covariance="common"`` what its samples told about the scatter stays.

    References
    ----------
    Fang, Zhu, Lin, Chen, Zeng, Zhuang (2024), AIR: Analytic imbalance rectifier for continual learning,
    arXiv:2408.10349.

    Examples
    --------
    Nine of ten samples are of one class; the rare one is found nevertheless.

    >>> from i2cansay.learners import make_learner
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [900, 100])
    >>> X = rng.standard_normal((1000, 2)) + 2 * y[:, None]
    >>> rare = X[y == 1]
    >>> plain = make_learner("gacl", n_projections=50, random_state=0).partial_fit(X, y)
    >>> balanced = AIR(n_projections=50, random_state=0).partial_fit(X, y)
    >>> bool(balanced.score(rare, y[y == 1]) > plain.score(rare, y[y == 1]) + 0.1)
    True
    """

    summary = "ridge regression on a rectified lift, classes balanced"
    small_parameters = MappingProxyType({"n_projections": 40})
    structural = ("n_projections", "covariance")

    def __init__(
        self,
        *,
        n_projections: int = 5000,
        covariance: Literal["common", "class"] = "common",
        penalty: float | Literal["gcv"] = 1000.0,
        relative: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_projections = n_projections
        self.covariance = covariance
        self.penalty = penalty
        self.relative = relative
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("covariance", self.covariance, ("common", "class"))

    def _start(self, n_features: int) -> None:
        super()._start(n_features)
        each = self.covariance == "class"
        self._statistics = ClassScatter(self.n_projections) if each else SharedScatter(self.n_projections)

    def _draw(self, rng: np.random.Generator) -> Float64:
        return uniform_projection(rng, self.n_projections, self.n_features_in_)

    def _activate(self, projected: Float64) -> Float64:
        return np.maximum(projected, 0.0, out=projected)

    def _ridge_statistics(self) -> RidgeStatistics:
        assert isinstance(self._statistics, ClassScatter | SharedScatter)
        return balanced_statistics(self._statistics)

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        width = self.n_projections
        each = means_bytes(width, n_classes) + n_classes * triangle_bytes(width, 4)
        kept = each if self.covariance == "class" else scatter_bytes(width, n_classes)
        return kept + linear_bytes(width, n_classes) + 8 * width * n_features

    @property
    def class_counts_(self) -> Float64:
        """Samples taught per class, (n_classes,), in the order of `classes_`."""
        assert isinstance(self._statistics, ClassScatter | SharedScatter)
        return self._statistics.means.count[self._labels.order]


def balanced_statistics(scatter: ClassScatter | SharedScatter) -> RidgeStatistics:
    """Return the statistics of the samples of `scatter`, each class weighted to the harmonic mean of all counts.

    Examples
    --------
    >>> scatter = SharedScatter(n_features=1)
    >>> scatter.resize(2)
    >>> scatter.add(np.array([[0.0], [2.0], [7.0]]), np.array([0, 0, 1]))
    >>> balanced = balanced_statistics(scatter)
    >>> balanced.classes.count.round(3), balanced.together.means.mean
    (array([1.333, 1.333]), array([[4.]]))
    """
    means, n_classes = scatter.means, len(scatter.means)
    width = means.mean.shape[1]
    each = n_classes / float((1 / means.count).sum())
    if isinstance(scatter, SharedScatter):
        within = SymmetricMatrix(width, scatter.matrix.packed * (each * n_classes / means.total))
    else:
        within = SymmetricMatrix(width)
        for packed, count in zip(scatter.packed, means.count, strict=True):
            within.packed += packed * (each / count)
    balanced = RidgeStatistics(width)
    balanced.resize(n_classes)
    balanced.classes.take(np.full(n_classes, each), means.mean, np.arange(n_classes))
    centre = means.mean.mean(axis=0)
    within.add_gram(means.mean - centre, scale=each)
    balanced.together.matrix = within
    balanced.together.means.take(np.array([each * n_classes]), centre[None], np.zeros(1, dtype=np.int64))
    return balanced
