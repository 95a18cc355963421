"""The local outlier factor of rows, and which rows to remove if there are too many.

References
----------
Breunig, Kriegel, Ng, Sander (2000), LOF: Identifying density-based local outliers, SIGMOD.
"""

import numpy as np
from scipy.linalg.blas import ssyrk

from i2cansay.core.linalg.blas import inner, threads_for
from i2cansay.core.types import Features, Float32, Float64, Rows

# Rows whose distances to all others are looked at together: 24 MB at 6,000 rows.
BLOCK = 1000
# Rows on top of each other have infinite density; this keeps it a number.
SMALLEST_REACH = 1e-10


def squared_distances(X: Features, rows: Float32) -> Float32:
    """Return the squared Euclidean distances from X, (n, d), to rows, (m, d), as (n, m) float32.

    They are expanded into a product, so both should lie around the origin, where little cancels.

    Examples
    --------
    >>> squared_distances(np.array([[3.0, 4.0]]), np.array([[0, 0], [3, 0]], dtype=np.float32))
    array([[25., 16.]], dtype=float32)
    """
    squared: Float32 = inner(X, rows)
    squared *= -2
    squared += np.einsum("nd,nd->n", rows, rows)
    squared += np.einsum("nd,nd->n", X, X)[:, None].astype(np.float32)
    return np.maximum(squared, 0, out=squared)


def local_outlier_factors(X: Float32, n_neighbors: int) -> Float64:
    """Return for each row of X, (n, d), how much sparser its surroundings are than those of its neighbours, (n,).

    About 1 inside a cluster, below 1 where it is densest, above 1 outside. With fewer than `n_neighbors` others
    all of them are the neighbours; a single row has factor 1.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [5.0]], dtype=np.float32)
    >>> local_outlier_factors(X, n_neighbors=2).round(1)
    array([ 1. ,  1. ,  1. ,  1. , 31.7])
    """
    n = len(X)
    k = min(n_neighbors, n - 1)
    if k < 1:
        return np.ones(n)
    if k == n - 1:
        return _factors_among_all(X)
    neighbours = np.empty((n, k), dtype=np.int32)
    distances = np.empty((n, k), dtype=np.float32)
    for start in range(0, n, BLOCK):
        block = slice(start, min(n, start + BLOCK))
        squared = squared_distances(X[block], X)
        squared[np.arange(len(squared)), np.arange(n)[block]] = np.inf  # no row is its own neighbour
        neighbours[block] = np.argpartition(squared, k - 1, axis=1)[:, :k]
        distances[block] = np.sqrt(np.take_along_axis(squared, neighbours[block], axis=1))
    farthest = distances.max(axis=1)
    reach = np.maximum(distances, farthest[neighbours])
    density = 1 / (reach.mean(axis=1, dtype=np.float64) + SMALLEST_REACH)
    factors: Float64 = density[neighbours].mean(axis=1) / density
    return factors


def _factors_among_all(X: Float32) -> Float64:
    """Return the factors where every other row is a neighbour.

    No row is farther from a neighbour than that neighbour's farthest row. So the reach is the latter, whatever the
    former, and nothing of the distances is needed but the largest of each row.
    """
    farthest = _farthest(X).astype(np.float64)
    others = len(X) - 1
    density = 1 / ((farthest.sum() - farthest) / others + SMALLEST_REACH)
    factors: Float64 = (density.sum() - density) / others / density
    return factors


def _farthest(X: Float32) -> Float32:
    """Return the distance of each row of X, (n, d), from the row farthest from it, (n,)."""
    n = len(X)
    X = np.ascontiguousarray(X, dtype=np.float32)
    with threads_for(n * n * X.shape[1] // 2):
        # One triangle of the products, above the diagonal as numpy sees it; the other is left at zero.
        squared: Float32 = ssyrk(-2.0, X.T, trans=1, lower=1).T
    squares = np.einsum("nd,nd->n", X, X)
    squared += squares
    squared += squares[:, None]
    squared[np.tri(n, dtype=np.bool_)] = 0
    found: Float32 = np.sqrt(np.maximum(squared.max(axis=1), squared.max(axis=0)).clip(min=0))
    return found


def keep_outliers(factors: Float64, groups: Rows, size: int) -> Rows:
    """Return which `size` rows stay, ascending, when the densest are removed first.

    A row goes only while its group has more than ``size // number of groups`` left, so that none dies out.

    Parameters
    ----------
    factors : (n,) local outlier factors
    groups : (n,) whole numbers from 0
    size : int
        At least 1 and at most n.

    Examples
    --------
    >>> factors = np.array([0.8, 0.9, 1.0, 1.1, 1.2])
    >>> keep_outliers(factors, np.array([0, 0, 0, 1, 1]), size=4)
    array([1, 2, 3, 4])
    >>> keep_outliers(factors, np.array([0, 1, 1, 1, 1]), size=2)  # the densest is the last of its group
    array([0, 4])
    """
    left = np.bincount(groups)
    share = size // np.count_nonzero(left)
    stays = np.ones(len(factors), dtype=bool)
    surplus = len(factors) - size
    # One pass is enough: the groups' shares add up to no more than `size`.
    for row in np.argsort(factors, kind="stable").tolist():
        if surplus <= 0:
            break
        if left[groups[row]] > share:
            left[groups[row]] -= 1
            stays[row] = False
            surplus -= 1
    return np.flatnonzero(stays)
