"""How far a row lies from the nearest class, relative to how far it lies from everything.

References
----------
Ren, Fort, Liu, Guha Roy, Padhy, Lakshminarayanan (2021), A simple fix to Mahalanobis distance for improving
near-OOD detection, arXiv:2106.09022.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.statistics.discriminant import ShrunkMeans, a_few
from i2cansay.core.statistics.scatter import SharedScatter
from i2cansay.core.types import Features, Float64


class Covariance(Protocol):
    """A, the shrunk covariance."""

    def solve(self, B: Float64) -> Float64:
        """Return the rows ``A^-1 b`` for the rows of `B`, (k, d)."""

    def solve_with_means(self, B: Float64, centre: Float64) -> Float64:
        """Return the rows ``(A + mean_c p_c p_c^T)^-1 b`` for the rows of `B`, (k, d); means p_c from `centre`."""


@dataclass(frozen=True)
class ShrunkCovariance:
    """A of a scatter with this `shrinkage`."""

    scatter: SharedScatter
    shrinkage: float

    def solve(self, B: Float64) -> Float64:
        """Return the rows ``A^-1 b`` for the rows of `B`, (k, d)."""
        return self.scatter.solve_shrunk(B, self.shrinkage)

    def solve_with_means(self, B: Float64, centre: Float64) -> Float64:
        """Return the rows ``(A + mean_c p_c p_c^T)^-1 b`` for the rows of `B`, (k, d); means p_c from `centre`."""
        return self.scatter.solve_with_means(B, self.shrinkage, centre)


def relative_distances(
    X: Features,
    means: Float64,
    covariance: Covariance,
    closed_form: ShrunkMeans,
    products: Float64 | None = None,
) -> Float64:
    """Return the relative squared Mahalanobis distance of each row of `X`, (n, d), to the nearest class, (n,).

    The distance to the nearest class under A, less the distance to the centre of the classes under the
    covariance of everything, ``A + mean_c p_c p_c^T`` with means p_c from that centre. By Woodbury's identity
    the two differ by products of scores only: ``f A^-1 f``, the one costly term, is in both. As long as there is
    one class, the distance to it.

    Parameters
    ----------
    means : (c, d) means of the classes
    closed_form : ShrunkMeans
        Of these means with this covariance.
    products : (c, c) array, optional
        ``p_i A^-1 p_j``, where it is known.
    """
    if len(means) == 1:  # everything is that class then
        away = X - means[0]
        distance: Float64 = np.einsum("nd,nd->n", away, covariance.solve(away))
        return distance
    scores, factors = closed_form
    projected = scores._replace(offset=np.zeros(len(means))).of(X) * factors
    if len(means) > X.shape[1]:  # the same with a matrix of as many rows as there are dimensions
        away = X - scores.centre
        inside = covariance.solve(away)
        inside -= covariance.solve_with_means(away, scores.centre)
        explained: Float64 = np.einsum("nd,nd->n", away, inside)
        squared = np.concatenate(
            [
                np.einsum("cd,cd->c", means[some] - scores.centre, scores.weights[some])
                for some in a_few(len(means))
            ]
        )
        squared *= factors
    else:
        if products is None:
            products = inner(means - scores.centre, scores.weights) * factors
        among = len(means) * np.eye(len(means)) + products
        explained = np.einsum("nc,nc->n", projected, np.linalg.solve(among, projected.T).T)
        squared = np.diagonal(products)
    relative: Float64 = (squared - 2 * projected).min(axis=1) + explained
    return relative
