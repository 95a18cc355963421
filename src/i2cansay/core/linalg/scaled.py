"""A symmetric matrix whose dimensions have units of their own: it is formed only where a factor is made of it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from i2cansay.core.linalg.symmetric import Factor, SymmetricMatrix, factored
from i2cansay.core.types import Features, Float64, Rows


@dataclass(frozen=True)
class ScaledMatrix:
    """``R A R`` for a `matrix` A and a diagonal R, (size,): nothing but `factors` is kept.

    Multiplying a dimension of A by a power of two, and dividing its factor by it, changes no bit of what comes out.

    Examples
    --------
    >>> matrix = SymmetricMatrix(2)
    >>> matrix.add_gram(np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> ScaledMatrix(matrix, np.array([1.0, 3.0])).rows(np.array([0, 1]))
    array([[ 1.,  6.],
           [ 6., 45.]])
    """

    matrix: SymmetricMatrix
    factors: Float64

    @property
    def size(self) -> int:
        """Rows and columns."""
        return self.matrix.size

    def diagonal(self) -> Float64:
        """Return the diagonal, (size,)."""
        diagonal: Float64 = self.matrix.diagonal() * self.factors * self.factors
        return diagonal

    def trace(self) -> float:
        """Return the sum of the diagonal."""
        return float(self.diagonal().sum())

    def sum_of_squares(self) -> float:
        """Return the sum of the squares of all entries."""
        triangle = 0.0
        for line, products in self.matrix.lines(self.factors):
            scaled = np.multiply(products, line, out=products)
            triangle += float(np.einsum("i,i->", scaled, scaled))
        return 2 * triangle - float((self.diagonal() ** 2).sum())

    def rows(self, index: Rows) -> Float64:
        """Return the rows `index`, (k,), of the matrix, (k, size)."""
        rows = self.matrix.rows(index)
        rows *= self.factors[index, None]
        rows *= self.factors
        return rows

    def factor(
        self, *, shift: float, scale: float = 1.0, plus: Callable[[], Iterable[Features]] = tuple
    ) -> Factor:
        """Return the Cholesky factor of ``scale * R A R + shift * I``, as `SymmetricMatrix.factor` does."""

        def formed() -> SymmetricMatrix:
            copy = SymmetricMatrix(self.size, self.matrix.packed * scale)
            copy.scale_by(self.factors)
            return copy

        return factored(formed, shift=shift, plus=plus)
