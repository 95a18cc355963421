"""F-OAL: recursive ridge regression on a small sigmoid lift of features fused over the stages of an encoder."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from scipy.special import expit

from i2cansay.core.part_bytes import linear_bytes, ridge_bytes
from i2cansay.core.statistics.blocks import Blocks
from i2cansay.core.types import Features, Float64
from i2cansay.learners.closed_form.lifted_ridge import LiftedRidge, uniform_projection
from i2cansay.learners.parameters import check_whole

# A row that varies by less than this share of itself is constant, up to rounding.
CONSTANT = 1e-12


class FOAL(LiftedRidge):
    """Regresses onto the classes from ``sigmoid(LN(f) R)``, R drawn once as a linear layer begins.

    f is the mean over the blocks of the features, which in the publication are the class tokens of all blocks of a
    ViT. LN subtracts the mean of a row and divides by its standard deviation. The publication updates the solution
    with every batch (recursive least squares from ``R_0 = I``); here it is solved from the accumulated moments when
    scores are needed: the same weights, without the drift of a recursion.

    Parameters
    ----------
    blocks : sequence of int, optional
        Widths of the blocks that the features are made of, as the stages of an encoder; one block by default. Of
        blocks that differ in width there is no mean: each is normalised by itself, and they are projected side by
        side. (A mean of random projections of the blocks is a random projection of them side by side.)
    n_projections : int
        Width M of the lift; 1,000 as published. The state is M^2/2 numbers of 8 bytes: 4 MB.
    penalty : float or "gcv"
        Of the regression; 1 as published. It carries over, because a sigmoid has no unit. "gcv" chooses it by
        generalised cross-validation from the accumulated statistics.
    relative : bool
        Whether a number `penalty` is in units of the mean square of a lifted feature, which is about 1/4.
    random_state : int, Generator, RandomState or None
        Seed of the lift. R itself is drawn again from the seed and never saved.

    Notes
    -----
    Departs from the publication: LN has no trained scale and offset, which belong to the ViT. The authors' code
    leaves out the last incomplete batch of every session; here every sample counts.

    `forget` removes the targets of a class; its samples stay in the Gram matrix.

    References
    ----------
    Zhuang, Liu, He, Tong, Zeng, Chen, Wang, Chau (2024), F-OAL: Forward-only online analytic learning with fast
    training and low memory footprint in class incremental learning, NeurIPS.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FOAL(n_projections=500, random_state=0).partial_fit(X[:1500], y[:1500])
    >>> model.score(X[1500:], y[1500:]) > 0.85  # about 0.92
    True
    """

    summary = "recursive ridge regression on a sigmoid lift"
    small_parameters = MappingProxyType({"n_projections": 40})
    expected_failed_checks = MappingProxyType(
        {"check_classifiers_train": "of two features, which it trains on, LN leaves a sign"}
    )
    structural = ("n_projections", "blocks")

    def __init__(
        self,
        *,
        blocks: Sequence[int] | None = None,
        n_projections: int = 1000,
        penalty: float | Literal["gcv"] = 1.0,
        relative: bool = False,
        random_state: Any = None,
    ) -> None:
        self.blocks = blocks
        self.n_projections = n_projections
        self.penalty = penalty
        self.relative = relative
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.blocks is None:
            return
        if (
            not isinstance(self.blocks, Sequence)
            or isinstance(self.blocks, str | bytes)
            or not len(self.blocks)
        ):
            raise ValueError(
                f"blocks must be None or the widths of the blocks, as (192, 192), got {self.blocks!r}"
            )
        for width in self.blocks:
            check_whole(at_least=1, **{"the width of each of the blocks": width})

    def _start(self, n_features: int) -> None:
        if self.blocks is not None and sum(self.blocks) != n_features:
            raise ValueError(
                f"expected blocks that add up to the width of the features, {n_features}, got "
                f"{', '.join(map(str, self.blocks))}, which add up to {sum(self.blocks)}; was the encoder changed?"
            )
        super()._start(n_features)

    def _fused_width(self, n_features: int) -> int:
        """Return the width of what is projected."""
        widths = self.blocks or (n_features,)
        return widths[0] if len(set(widths)) == 1 else n_features

    def _prepare(self, X: Features) -> Features:
        widths = self.blocks or (X.shape[1],)
        rows = np.asarray(X, dtype=np.float64)
        if len(set(widths)) == 1:
            return layer_norm(rows.reshape(len(rows), len(widths), -1).mean(axis=1))
        return np.concatenate([layer_norm(rows[:, block]) for block in Blocks(widths)], axis=1)

    def _draw(self, rng: np.random.Generator) -> Float64:
        return uniform_projection(rng, self.n_projections, self._fused_width(self.n_features_in_))

    def _activate(self, projected: Float64) -> Float64:
        activated: Float64 = expit(projected, out=projected)
        return activated

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        width, drawn = self.n_projections, 8 * self.n_projections * self._fused_width(n_features)
        return ridge_bytes(width, n_classes) + linear_bytes(width, n_classes) + drawn


def layer_norm(X: Float64) -> Float64:
    """Return every row of `X`, (n, d), with mean 0 and variance 1; a row of equal numbers becomes zero.

    Examples
    --------
    >>> layer_norm(np.array([[1.0, 3.0], [5.0, 5.0]]))
    array([[-1.,  1.],
           [ 0.,  0.]])
    """
    centred = X - X.mean(axis=1, keepdims=True)
    # Divided by the largest entry first: squares of tiny values would underflow. What is left of a constant row is
    # the rounding of its mean.
    largest = np.abs(centred).max(axis=1, keepdims=True)
    varies = largest > CONSTANT * np.abs(X).max(axis=1, keepdims=True)
    centred = np.where(varies, centred / np.where(varies, largest, 1.0), 0.0)
    deviation = np.sqrt(np.einsum("nd,nd->n", centred, centred) / X.shape[1])
    normed: Float64 = centred / np.where(deviation > 0, deviation, 1.0)[:, None]
    return normed
