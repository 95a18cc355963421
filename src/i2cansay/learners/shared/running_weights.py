"""The weights of all classes for a ridge that is held, and the precision matrix by which lessons change them.

Symbols: S -> the scatter, r -> the ridge that is held, P = (S + r)^-1, p_c -> mean of class c, o -> origin, a point
amid the data, V = (p - o) P -> weights, G = (p - o) P (p - o)^T -> products.

For each row u that S gains, with z = P u and q = 1 + u z, ``P -= z z^T/q``, ``V -= (V u) z^T/q`` and
``G -= (V u)(V u)^T/q``: all of it follows from one product P u. Then the rows of the classes whose means have moved
are computed from the new P.
"""

import numpy as np

from i2cansay.core.linalg.blas import add_outer, inner
from i2cansay.core.linalg.precision import PrecisionMatrix
from i2cansay.core.linalg.row_buffer import RowBuffer
from i2cansay.core.statistics.discriminant import ShrunkMeans, largest_safe_strength, log_shares, shrunk
from i2cansay.core.statistics.ridged_covariance import RidgedCovariance
from i2cansay.core.statistics.scatter import SharedScatter
from i2cansay.core.types import Features, Float64, Rows


class RunningWeights:
    """V and G of a scatter, and P, where they are to follow it.

    Parameters
    ----------
    scatter : SharedScatter
    covariance : RidgedCovariance
        Of that scatter.
    follow : bool
        Whether to make P, which takes three times as long, so that `follow` can be called.

    Examples
    --------
    >>> from i2cansay.core.statistics.ridged_covariance import absolute_ridge
    >>> rng, scatter, y = np.random.default_rng(0), SharedScatter(3), np.arange(40) % 2
    >>> scatter.resize(2)
    >>> scatter.add(rng.standard_normal((40, 3)) + y[:, None], y)
    >>> ridge = absolute_ridge(scatter, 0.1)
    >>> weights = RunningWeights(scatter, RidgedCovariance(scatter, ridge), follow=True)
    >>> weights.follow(scatter.gain(np.ones((1, 3)), np.array([1])), np.array([1]), scatter)
    >>> updated, _ = weights.closed_form(scatter, RidgedCovariance(scatter, ridge).scale, strength=0.02)
    >>> anew = RunningWeights(scatter, RidgedCovariance(scatter, ridge), follow=False)
    >>> solved, _ = anew.closed_form(scatter, RidgedCovariance(scatter, ridge).scale, strength=0.02)
    >>> np.allclose(updated.scores.weights, solved.scores.weights)
    True
    """

    def __init__(self, scatter: SharedScatter, covariance: RidgedCovariance, *, follow: bool) -> None:
        means = scatter.means.mean
        self._origin: Float64 = means.mean(axis=0)
        offsets = means - self._origin
        self.precision: PrecisionMatrix | None = None
        """P; None where only the weights were solved for."""
        if follow:
            solved, inverse = covariance.solve_and_invert(offsets)
            self.precision = PrecisionMatrix(inverse)
        else:
            solved = covariance.solve(offsets)
        self._weights = RowBuffer(width=scatter.matrix.size, dtype=np.float64)
        self._weights.set(solved / covariance.scale)
        self._products: Features = inner(offsets, self._weights.view)

    def follow(self, gained: Float64, touched: Rows, scatter: SharedScatter) -> None:
        """Take in a lesson that `scatter` has taken in.

        Parameters
        ----------
        gained : (r, d) rows whose Gram matrix S has gained
        touched : (k,) classes whose means have moved, new ones among them
        """
        assert self.precision is not None
        for row in gained:
            z, q = self.precision.add(row)
            along = inner(row[None], self._weights.view)
            add_outer(self._weights.view, along, z[None], scale=-1 / q)
            self._products -= along.T * (along / q)
        if n_new := len(scatter.means) - len(self._weights):
            self._weights.resize(len(scatter.means))
            self._products = np.pad(self._products, (0, n_new))
        offsets = scatter.means.mean[touched] - self._origin
        self._weights.view[touched] = self.precision.times(offsets)
        self._products[touched] = inner(offsets, self._weights.view)
        self._products[:, touched] = self._products[touched].T

    def closed_form(
        self, scatter: SharedScatter, scale: float, strength: float, *, empirical_prior: bool = False
    ) -> tuple[ShrunkMeans, Float64]:
        """Return the discriminant scores with means shrunk, and ``(p_i - m) A^-1 (p_j - m)``, (c, c).

        They share no memory with this object.

        Parameters
        ----------
        scale : float
            s, by which A^-1 is P.
        strength : float
            How strongly means are shrunk towards their centre, as far as that is safe.
        """
        weights = self._weights.view - self._weights.view.mean(axis=0)
        weights *= scale
        along = self._products.mean(axis=0)
        products = self._products - along - along[:, None] + along.mean()
        products *= scale
        return (
            shrunk(
                scatter.means.mean.mean(axis=0),
                weights,
                np.maximum(np.diagonal(products), 0.0),
                largest_safe_strength(strength, products),
                log_shares(scatter) if empirical_prior else None,
            ),
            products,
        )
