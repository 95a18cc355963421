"""RanPAC: ridge regression on a random, rectified projection of the features."""

from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from i2cansay.core.types import Float64
from i2cansay.learners.closed_form.lifted_ridge import LiftedRidge


class RanPAC(LiftedRidge):
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

    def _draw(self, rng: np.random.Generator) -> Float64:
        return rng.standard_normal((self.n_projections, self.n_features_in_))

    def _activate(self, projected: Float64) -> Float64:
        return np.maximum(projected, 0.0, out=projected)
