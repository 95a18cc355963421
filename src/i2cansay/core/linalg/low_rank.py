"""A symmetric matrix of few samples as the few rows it is made of: the same solutions for a fraction of the work.

A scatter of n samples in d dimensions has rank n at most. As long as n is small beside d its factors need not cost
d^3: with ``A = T^T T`` for r rows T, by Woodbury's identity

    (T^T T + s I)^-1 = (I - T^T (T T^T + s I)^-1 T) / s

and all that is factored is r x r. The rows are found by Cholesky's algorithm, which, taking the largest of what is
left at each turn, ends after r rows and about d r^2 operations. They are no samples, only another form of the
matrix.

Symbols: T -> rows, s -> shift.

References
----------
Harbrecht, Peters, Schneider (2012), On the low-rank approximation by the pivoted Cholesky decomposition, Applied
Numerical Mathematics 62(4).
"""

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from scipy.linalg import blas, lapack

from i2cansay.core.linalg.blas import add_outer, inner, threads_for
from i2cansay.core.linalg.scaled import ScaledMatrix
from i2cansay.core.linalg.symmetric import SymmetricMatrix, least_shift
from i2cansay.core.types import Features, Float64

# Of the largest entry of the diagonal; what is left below that is rounding.
NOTHING_LEFT = 1e-12
AT_A_TIME = 64
# Rows taken at the same time must not be too much alike, or the quotient would be one of roundings.
UNLIKE = 1e-3


def low_rank(matrix: SymmetricMatrix | ScaledMatrix, most: int) -> "LowRankMatrix | None":
    """Return `matrix`, which has no eigenvalue below zero, by rows; None if it takes more than `most`.

    Examples
    --------
    >>> matrix = SymmetricMatrix(4)
    >>> matrix.add_gram(np.array([[1.0, 2.0, 0.0, 3.0]]))
    >>> low_rank(matrix, most=2).rows
    array([[1., 2., 0., 3.]])
    """
    left = matrix.diagonal()
    if not np.isfinite(left).all():
        return None
    nothing = NOTHING_LEFT * float(left.max(initial=0.0))
    rows, found = np.empty((most, matrix.size)), 0
    while left.max(initial=0.0) > nothing:
        pivots = np.argsort(left)[-AT_A_TIME:]
        rest, known = matrix.rows(pivots), rows[:found]
        add_outer(rest, known[:, pivots], known, scale=-1.0)
        corner = rest[:, pivots]
        if not np.isfinite(corner).all():
            return None
        left[pivots] = np.diagonal(corner)
        tolerance = max(UNLIKE * float(left[pivots].max()), nothing)
        factor, order, rank, _ = lapack.dpstrf(corner, tol=tolerance)
        if rank == 0:  # what seemed to be left of these was rounding
            continue
        if found + rank > most:
            return None
        taken = order[:rank] - 1
        more, _ = lapack.dtrtrs(factor[:rank, :rank], rest[taken], trans=1)
        rows[found : found + rank] = more
        left -= np.einsum("rd,rd->d", more, more)
        left[pivots[taken]] = 0.0
        found += rank
        # Samples that were taken out again leave their rounding, below zero too, which rows would make larger.
        if left.min() < -nothing:
            return None
    return LowRankMatrix(rows[:found])


class LowRankMatrix:
    """``T^T T`` for few rows T, (r, size).

    Examples
    --------
    >>> LowRankMatrix(np.array([[3.0, 4.0]])).factor(shift=1.0).solve(np.array([[3.0, 4.0], [4.0, -3.0]])).round(3)
    array([[ 0.115,  0.154],
           [ 4.   , -3.   ]])
    """

    def __init__(self, rows: Float64) -> None:
        self.rows = rows
        """T, (r, size)."""

    @cached_property
    def _products(self) -> Features:
        return inner(self.rows, self.rows)

    @property
    def size(self) -> int:
        """Rows and columns of the matrix."""
        return int(self.rows.shape[1])

    def plus(self, rows: Iterable[Features]) -> "LowRankMatrix":
        """Return the matrix with the Gram matrix of further rows, (n, size), a few at a time, added."""
        return LowRankMatrix(np.concatenate([self.rows, *rows]))

    def factor(self, *, shift: float, scale: float = 1.0) -> "LowRankFactor":
        """Return what solves for ``scale * A + shift * I``, as `SymmetricMatrix.factor` does; `scale` is above 0."""
        largest = float(np.einsum("rd,rd->d", self.rows, self.rows).max(initial=0.0))
        return LowRankFactor(self.rows, self._products, least_shift(shift / scale, self.size, largest), scale)


class LowRankFactor:
    """What solves for ``scale (T^T T + s I)``: as a `Factor`, from few rows T and their products ``T T^T``."""

    def __init__(self, rows: Float64, products: Features, shift: float, scale: float) -> None:
        self._rows, self._shift, self._scale = rows, shift, scale
        inside = products.copy()
        inside[np.diag_indices_from(inside)] += shift
        with threads_for(len(rows) ** 3 // 6):
            self._inside, failed_at = lapack.dpotrf(inside.T, lower=1, overwrite_a=1)
        if failed_at or not np.isfinite(np.diagonal(self._inside)).all():
            raise ValueError("a symmetric matrix with entries that are not finite cannot be solved")

    def solve(self, rows: Float64, *, overwrite: bool = False) -> Float64:
        """Return the solution for each row of `rows`, (k, size); with `overwrite` in the place of `rows`."""
        take = np.ascontiguousarray if overwrite else np.array
        solution: Float64 = take(rows, dtype=np.float64)
        if len(rows) and len(self._rows):
            along = inner(rows, self._rows)
            with threads_for(len(rows) * len(self._rows) ** 2):
                weights, _ = lapack.dpotrs(self._inside, along.T, lower=1)
            add_outer(solution, weights, self._rows, scale=-1.0)
        solution /= self._shift * self._scale
        return solution

    def trace_of_inverse(self) -> float:
        """Return the trace of the inverse."""
        n_rows, size = self._rows.shape
        trace: float = (size - n_rows) / self._shift
        if n_rows:
            with threads_for(n_rows**3 // 3):
                inside, _ = lapack.dpotri(self._inside, lower=1)
            trace += float(np.diagonal(inside).sum())
        return trace / self._scale

    def inverse(self) -> SymmetricMatrix:
        """Return the inverse; rows and factor are used up."""
        inverse = SymmetricMatrix(self._rows.shape[1])
        inverse.add_to_diagonal(1 / (self._shift * self._scale))
        if len(self._rows):
            with threads_for(self._rows.size * len(self._rows) // 2):
                whitened = blas.dtrsm(
                    1.0, self._inside, self._rows.T, side=1, lower=1, trans_a=1, overwrite_b=1
                )
            inverse.add_gram(whitened.T, scale=-1 / (self._shift * self._scale))
        return inverse
