"""The inverse of a symmetric matrix that gains rows, kept up to date by a rank-one update for each of them.

Symbols: A -> the matrix, P -> its inverse, u -> a row that A gains as ``u u^T``, z = P u, q = 1 + u z.

By the Sherman-Morrison formula ``(A + u u^T)^-1 = P - z z^T / q``: one product of the matrix with a vector and one
outer product, where a new inverse takes as many of them as there are dimensions. Rows are only ever added, so that q
is at least 1, and rounding does not build up.
"""

import numpy as np
from scipy.linalg import blas, lapack

from i2cansay.core.linalg.blas import threads_for
from i2cansay.core.linalg.symmetric import SymmetricMatrix
from i2cansay.core.types import Float64


class PrecisionMatrix:
    """P, one triangle of it in float64, in the packed format of BLAS level 2: ``4 size (size + 1)`` bytes.

    Parameters
    ----------
    inverse : SymmetricMatrix
        P to begin with; it is not changed.

    Examples
    --------
    >>> matrix = SymmetricMatrix(2)
    >>> matrix.add_gram(np.array([[1.0, 2.0]]))
    >>> precision = PrecisionMatrix(matrix.inverse(shift=1.0))
    >>> added = precision.add(np.array([3.0, 1.0]))
    >>> matrix.add_gram(np.array([[3.0, 1.0]]))
    >>> np.allclose(precision.times(np.eye(2)), np.linalg.inv(matrix.dense() + np.eye(2)))
    True
    """

    def __init__(self, inverse: SymmetricMatrix) -> None:
        self.size = inverse.size
        self._packed: Float64 = lapack.dtfttp(inverse.size, inverse.packed)[0]

    def times(self, rows: Float64) -> Float64:
        """Return the rows ``P b`` for the rows b of `rows`, (k, size)."""
        products = np.empty((len(rows), self.size))
        with threads_for(len(rows) * self._packed.size):
            for row, product in zip(rows, products, strict=True):
                product[:] = blas.dspmv(self.size, 1.0, self._packed, row)
        return products

    def add(self, row: Float64) -> tuple[Float64, float]:
        """Take in that A has gained ``u u^T`` for a `row` u, (size,); return z, (size,), and q."""
        z = self.times(row[None])[0]
        q = 1.0 + float(np.einsum("d,d->", row, z))
        with threads_for(self._packed.size):
            written = blas.dspr(self.size, -1.0 / q, z, self._packed, overwrite_ap=1)
        # f2py copies silently when the layout does not fit, and the update would be lost silently.
        if not np.shares_memory(written, self._packed):
            raise AssertionError("the packed precision matrix was copied instead of updated")
        return z, q
