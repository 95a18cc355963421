"""Mahalanobis distances with a shrunk correlation matrix, as FeCAM defines them.

Symbols: S -> covariance, V1 and V2 -> the means of its diagonal and of the rest of it, gamma1 and gamma2 -> how
much of them is added.

References
----------
Goswami, Liu, Twardowski, van de Weijer (2023), FeCAM: Exploiting the heterogeneity of class distributions in
exemplar-free continual learning, NeurIPS.
"""

import numpy as np
from scipy.linalg import lapack

from i2cansay.core.linalg.blas import threads_for
from i2cansay.core.types import Features, Float32

# A variance below this is no spread: float32 could not hold its inverse.
NO_SPREAD = 1e-30


def shrunk_correlation(covariance: Features, *, gamma1: float, gamma2: float) -> Features:
    """Return ``S + gamma1 V1 I + gamma2 V2 (1 - I)``, (d, d), divided by the standard deviations on its diagonal.

    Without any spread it is the identity: distances are then Euclidean.

    Examples
    --------
    >>> shrunk_correlation(np.array([[3.0, 1.0], [1.0, 1.0]]), gamma1=1.0, gamma2=0.0).round(3)
    array([[1.   , 0.258],
           [0.258, 1.   ]])
    """
    size = len(covariance)
    diagonal = np.diag(covariance)
    mean_variance = float(diagonal.mean(dtype=np.float64))
    if not mean_variance > NO_SPREAD:
        return np.eye(size, dtype=covariance.dtype)
    rest = float(covariance.sum(dtype=np.float64) - diagonal.sum(dtype=np.float64))
    mean_covariance = rest / max(size * (size - 1), 1)
    shrunk = covariance / mean_variance  # the scale cancels, and no value leaves the range of float32
    shrunk += gamma2 * mean_covariance / mean_variance
    shrunk[np.diag_indices(size)] = diagonal / mean_variance + gamma1
    deviations = np.sqrt(np.diag(shrunk))
    shrunk /= deviations[:, None]
    shrunk /= deviations
    return shrunk


class Mahalanobis:
    """Squared distances ``x R^-1 x^T`` by a matrix R, factorised once and kept as one triangle of float32.

    Examples
    --------
    >>> Mahalanobis(np.array([[1.0, 0.6], [0.6, 1.0]])).squared(np.array([[1.0, 1.0], [1.0, -1.0]])).round(2)
    array([1.25, 5.  ], dtype=float32)
    """

    def __init__(self, matrix: Features) -> None:
        self.size = len(matrix)
        self.factor = _factor(matrix.astype(np.float32))

    def squared(self, X: Features) -> Features:
        """Return the squared length of every row of `X`, (n, d), as (n,)."""
        rows = np.ascontiguousarray(X, dtype=np.float32)
        with threads_for(rows.size * self.size // 2):
            # The factor is U with R = U^T U, so that the length is that of U^-T x.
            solved = lapack.stfsm(1.0, self.factor, rows.T, trans="T")
        lengths: Features = np.einsum("nd,nd->n", solved.T, solved.T)
        return lengths


def _factor(matrix: Float32) -> Float32:
    """Return the packed Cholesky factor; a matrix that rounding has left indefinite is shrunk until it is not."""
    if not np.isfinite(matrix).all():  # LAPACK would not report it
        raise ValueError("a correlation matrix with entries that are not finite cannot be inverted")
    share = 1e-6
    while True:
        packed, _ = lapack.strttf(matrix)
        with threads_for(len(matrix) ** 3 // 6):
            factor, failed_at = lapack.spftrf(len(matrix), packed, overwrite_a=1)
        if not failed_at:
            found: Float32 = factor
            return found
        matrix = (1 - share) * matrix
        matrix[np.diag_indices(len(matrix))] += share
        share *= 10
