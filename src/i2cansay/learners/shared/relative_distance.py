"""How far a row lies from the nearest class, relative to how far it lies from everything.

References
----------
Ren, Fort, Liu, Guha Roy, Padhy, Lakshminarayanan (2021), A simple fix to Mahalanobis distance for improving
near-OOD detection, arXiv:2106.09022.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import solve_triangular

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
        squared = _squared_lengths(means, closed_form)
    else:
        products = _products(means, closed_form) if products is None else products
        among = len(means) * np.eye(len(means)) + products
        explained = np.einsum("nc,nc->n", projected, np.linalg.solve(among, projected.T).T)
        squared = np.diagonal(products)
    relative: Float64 = (squared - 2 * projected).min(axis=1) + explained
    return relative


class RelativeTerms(NamedTuple):
    """What `relative_distances` of several classes is computed from, where its covariance cannot be asked.

    With ``z_c = (p_c - m) A^-1 (f - m)``, the products of a row with all means, the distance is
    ``min_c (squared_c - 2 z_c) + |factor v|^2``. Here v is z, or ``f - m`` where classes outnumber dimensions.

    Attributes
    ----------
    squared : (c,) array
    factor : (r, c) or (r, d) array
    of_products : bool
        Whether v is z.
    """

    squared: Float64
    factor: Float64
    of_products: bool


def relative_terms(
    means: Float64, covariance: Covariance, closed_form: ShrunkMeans, products: Float64 | None = None
) -> RelativeTerms:
    """Return the terms of the distance between at least two classes; arguments as for `relative_distances`."""
    n_classes, width = means.shape
    if n_classes > width:
        centre = closed_form.scores.centre
        inside = covariance.solve(np.eye(width)) - covariance.solve_with_means(np.eye(width), centre)
        lengths, axes = np.linalg.eigh((inside + inside.T) / 2)
        factor = np.sqrt(np.maximum(lengths, 0.0))[:, None] * axes.T
        return RelativeTerms(_squared_lengths(means, closed_form), factor, of_products=False)
    products = _products(means, closed_form) if products is None else products
    among = n_classes * np.eye(n_classes) + (products + products.T) / 2
    factor = solve_triangular(np.linalg.cholesky(among), np.eye(n_classes), lower=True)
    return RelativeTerms(np.diagonal(products).copy(), factor, of_products=True)


def _products(means: Float64, closed_form: ShrunkMeans) -> Float64:
    scores, factors = closed_form
    products: Float64 = inner(means - scores.centre, scores.weights) * factors
    return products


def _squared_lengths(means: Float64, closed_form: ShrunkMeans) -> Float64:
    scores, factors = closed_form
    squared = np.concatenate(
        [
            np.einsum("cd,cd->c", means[some] - scores.centre, scores.weights[some])
            for some in a_few(len(means))
        ]
    )
    squared *= factors
    return squared
