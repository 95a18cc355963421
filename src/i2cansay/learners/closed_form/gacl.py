"""GACL: recursive ridge regression on a random, rectified lift, for streams whose classes come and return."""

from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from i2cansay.core.types import Float64
from i2cansay.learners.closed_form.lifted_ridge import LiftedRidge, uniform_projection


class GACL(LiftedRidge):
    """Regresses onto the classes from ``ReLU(f R)``, R drawn once as a linear layer begins.

    The publication updates the inverse of the Gram matrix and the weights with every batch, in two parts: one for
    classes that have been there before and one for those that are new. Both together are the ridge regression on
    all samples so far, and it is solved here from the accumulated moments when scores are needed: the same
    weights, without the drift of a recursion. What is left of the method is its lift and its penalty; `RanPAC`
    differs in how R is drawn and in how the penalty is chosen.

    Parameters
    ----------
    n_projections : int
        Width M of the lift ("buffer"); 5,000 as published. The state is M^2/2 numbers of 8 bytes.
    penalty : float or "gcv"
        Of the regression. "gcv" chooses it by generalised cross-validation from the accumulated statistics.
    relative : bool
        Whether a number `penalty` is in units of the mean square of a lifted feature, so that the scale of the
        features does not matter. False takes it as it is.
    random_state : int, Generator, RandomState or None
        Seed of the lift. R itself is drawn again from the seed and never saved.

    Notes
    -----
    The published value is ``penalty=100, relative=False`` on features of DeiT-S. The authors' script learns every
    batch three times over (`online_iter`), which makes it a third of that. A value in units of other features does
    not carry over; the default was chosen on held-out training samples (`i2cansay reproduce tuning-gacl`).

    `forget` removes the targets of a class; its samples stay in the Gram matrix.

    References
    ----------
    Zhuang, Chen, Fang, He, Tong, Wei, Zeng, Chen (2024), GACL: Exemplar-free generalized analytic continual
    learning, NeurIPS.
    Zhuang, Weng, Wei, Xie, Toh, Lin (2022), ACIL: Analytic class-incremental learning with absolute memorization
    and privacy protection, NeurIPS.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = GACL(n_projections=500, penalty=10.0, random_state=0).partial_fit(X[:1500], y[:1500])
    >>> model.score(X[1500:], y[1500:]) > 0.88  # about 0.94
    True
    """

    summary = "recursive ridge regression on a rectified lift"
    small_parameters = MappingProxyType({"n_projections": 40})

    def __init__(
        self,
        *,
        n_projections: int = 5000,
        penalty: float | Literal["gcv"] = 1000.0,
        relative: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_projections = n_projections
        self.penalty = penalty
        self.relative = relative
        self.random_state = random_state

    def _draw(self, rng: np.random.Generator) -> Float64:
        return uniform_projection(rng, self.n_projections, self.n_features_in_)

    def _activate(self, projected: Float64) -> Float64:
        return np.maximum(projected, 0.0, out=projected)
