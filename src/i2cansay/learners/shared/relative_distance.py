"""How far a row lies from the nearest class, relative to how far it lies from everything.

References
----------
Ren, Fort, Liu, Guha Roy, Padhy, Lakshminarayanan (2021), A simple fix to Mahalanobis distance for improving
near-OOD detection, arXiv:2106.09022.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve, solve_triangular

from i2cansay.core.linalg.blas import inner
from i2cansay.core.score_blocks import score_blocks
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


class RelativeDistance:
    """The relative squared Mahalanobis distance to the nearest class.

    The distance to the nearest class under A, less the distance to the centre of the classes under the
    covariance of everything, ``A + mean_c p_c p_c^T`` with means p_c from that centre. By Woodbury's identity
    the two differ by products of scores only: ``f A^-1 f``, the one costly term, is in both. As long as there is
    one class, the distance to it.

    It keeps one matrix of as many rows as there are classes or dimensions, whichever are fewer.

    Parameters
    ----------
    means : (c, d) means of the classes
    covariance : Covariance
    closed_form : ShrunkMeans
        Of these means with this covariance.
    products : (c, c) array, optional
        ``p_i A^-1 p_j``, where it is known.
    """

    def __init__(
        self,
        means: Float64,
        covariance: Covariance,
        closed_form: ShrunkMeans,
        products: Float64 | None = None,
    ) -> None:
        n_classes, width = means.shape
        scores, self._factors = closed_form
        self._projections = scores._replace(offset=np.zeros(n_classes))
        self._only: tuple[Float64, Covariance] | None = None
        self._among: tuple[Float64, NDArray[np.int32]] | None = None
        self._inside: Float64 | None = None
        if n_classes == 1:  # everything is that class then
            self._only = means[0].copy(), covariance
        elif n_classes > width:  # the same with a matrix of as many rows as there are dimensions
            self._inside = covariance.solve(np.eye(width))
            self._inside -= covariance.solve_with_means(np.eye(width), scores.centre)
            self._squared = _squared_lengths(means, closed_form)
        else:
            products = _products(means, closed_form) if products is None else products
            self._among = lu_factor(n_classes * np.eye(n_classes) + products, check_finite=False)
            self._squared = np.diagonal(products).copy()

    def of(self, X: Features) -> Float64:
        """Return the distance of each row of `X`, (n, d), as (n,)."""
        if self._only is not None:
            mean, covariance = self._only
            away = X - mean
            distance: Float64 = np.einsum("nd,nd->n", away, covariance.solve(away))
            return distance
        found = np.empty(len(X))
        for block in score_blocks(len(X), max(len(self._squared), X.shape[1])):
            found[block] = self._of_a_few(X[block])
        return found

    def _of_a_few(self, X: Features) -> Float64:
        projected = self._projections.of(X) * self._factors
        if self._inside is not None:
            rows = X - self._projections.centre
            inside = inner(rows, self._inside)
        else:
            assert self._among is not None
            rows, inside = projected, lu_solve(self._among, projected.T, check_finite=False).T
        explained: Float64 = np.einsum("nd,nd->n", rows, inside)
        relative: Float64 = (self._squared - 2 * projected).min(axis=1) + explained
        return relative


class RelativeTerms(NamedTuple):
    """What `RelativeDistance` of several classes is computed from, where its covariance cannot be asked.

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
    """Return the terms of the distance between at least two classes; arguments as for `RelativeDistance`."""
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
