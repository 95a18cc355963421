"""A symmetric matrix kept as one triangle: half the memory, and still fast products and factors.

The triangle lies in LAPACK's rectangular full packed format, in which sums of outer products, Cholesky
factors and solutions run at the speed of full matrices. With 10,000 dimensions that is 400 MB instead of 800.

References
----------
Gustavson, Waśniewski, Dongarra, Langou (2010), Rectangular full packed format for Cholesky's algorithm,
ACM Transactions on Mathematical Software 37(2).
Hutchinson (1990), A stochastic estimator of the trace of the influence matrix for Laplacian smoothing splines,
Communications in Statistics - Simulation and Computation 19(2).
"""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from scipy.linalg import lapack

from i2cansay.core.linalg.blas import threads_for
from i2cansay.core.linalg.ensure_writeable import ensure_writeable
from i2cansay.core.types import Features, Float32, Float64, Rows

Matrix = TypeVar("Matrix", Float32, Float64)

MIRRORED = 128
"""Rows mirrored at a time."""
NARROWED = 1 << 16
"""Numbers narrowed at a time."""

# Up to this size the trace of an inverse is computed; above it, it is estimated from this many random signs. An
# inverse takes twice the time of the factor it is made from; the signs next to nothing.
EXACT_UP_TO = 2048
SIGNS = 64


class SymmetricMatrix:
    """A (size, size) matrix, zero at first, to which outer products are added.

    Parameters
    ----------
    size : int
    packed : array, optional
        The triangle to begin with, (size * (size + 1) / 2,); it is not copied.

    Examples
    --------
    >>> matrix = SymmetricMatrix(2)
    >>> matrix.add_gram(np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> matrix.dense()
    array([[1., 2.],
           [2., 5.]])
    >>> matrix.solve(np.array([[1.0, 3.0]]), shift=1.0) @ (matrix.dense() + np.eye(2))
    array([[1., 3.]])
    """

    def __init__(self, size: int, packed: Float64 | None = None) -> None:
        self.size = size
        self.packed: Float64 = _empty_triangle(size) if packed is None else packed
        """The triangle, (size * (size + 1) / 2,)."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.packed = ensure_writeable(self.packed)

    def add_gram(self, X: Features, scale: float = 1.0) -> None:
        """Add ``scale * X.T @ X`` for rows `X`, (n, size)."""
        if len(X) == 0:
            return
        X = np.ascontiguousarray(X, dtype=np.float64)
        with threads_for(len(X) * self.packed.size):
            written = lapack.dsfrk(self.size, len(X), scale, X.T, 1.0, self.packed, overwrite_c=1)
        # f2py copies silently when the layout does not fit, and the sum would be lost silently.
        if not np.shares_memory(written, self.packed):
            raise AssertionError("the packed triangle was copied instead of added to")

    def add(self, other: "SymmetricMatrix") -> None:
        """Add another matrix of the same size."""
        self.packed += other.packed

    def copy(self) -> "SymmetricMatrix":
        """Return a matrix of its own with the same values."""
        return SymmetricMatrix(self.size, self.packed.copy())

    def restore(self, packed: Float64) -> None:
        """Take over a copy of the `packed` triangle of a matrix of the same size."""
        if packed.shape != self.packed.shape:
            raise ValueError(
                f"expected {self.packed.size} numbers of a symmetric matrix, got shape {packed.shape}"
            )
        self.packed = np.array(packed, dtype=np.float64)

    def diagonal(self) -> Float64:
        """Return the diagonal, (size,)."""
        return self.packed[_diagonal_positions(self.size)]

    def add_to_diagonal(self, value: float) -> None:
        """Add `value` to every entry of the diagonal."""
        self.packed[_diagonal_positions(self.size)] += value

    def rows(self, index: Rows) -> Float64:
        """Return the rows `index`, (k,), of the matrix, (k, size)."""
        half, height = self._shape()
        right, chosen = self.packed.reshape(-1, height), np.empty((len(index), self.size))
        left = right[:, half + 1 :]
        for row, at in zip(chosen, index, strict=True):
            if at < half:
                row[:at] = left[:at, at]
                row[at:half] = left[at, at:half]
                row[half:] = right[:, at]
            else:
                row[: at + 1] = right[at - half, : at + 1]
                row[at + 1 :] = right[at - half + 1 :, at]
        return chosen

    def trace(self) -> float:
        """Return the sum of the diagonal."""
        return float(self.diagonal().sum())

    def sum_of_squares(self) -> float:
        """Return the sum of the squares of all entries: the trace of the squared matrix."""
        # einsum: numpy's own BLAS would wake a second pool of threads.
        diagonal = self.diagonal()
        return 2 * float(np.einsum("i,i->", self.packed, self.packed)) - float((diagonal**2).sum())

    def dense(self) -> Float64:
        """Return the whole matrix, (size, size)."""
        upper: Float64 = lapack.dtfttr(self.size, self.packed)[0]
        return _mirrored(upper)

    def into_dense32(self) -> Float32:
        """Return the whole matrix in float32, (size, size); this one is used up, so that no third one is made."""
        narrow = self.packed.view(np.float32)[: len(self.packed)]
        for start in range(0, len(self.packed), NARROWED):
            some = slice(start, start + NARROWED)
            narrow[some] = self.packed[some]
        size, self.size, self.packed = self.size, 0, np.zeros(0)
        return unpack32(size, narrow)

    def solve(self, B: Float64, *, shift: float, scale: float = 1.0, overwrite: bool = False) -> Float64:
        """Return the rows x with ``(scale * A + shift * I) x = b`` for the rows b of `B`, (k, size).

        `A` must have no eigenvalue below zero, up to rounding, and `shift` be above zero. A shift so small
        that rounding would swallow it is raised until the matrix is positive definite. With `overwrite` the
        solution takes the place of `B`.
        """
        return self.factor(shift=shift, scale=scale).solve(B, overwrite=overwrite)

    def inverse(self, *, shift: float, scale: float = 1.0) -> "SymmetricMatrix":
        """Return ``(scale * A + shift * I)^-1``, with `shift` as in `solve`."""
        return self.factor(shift=shift, scale=scale).inverse()

    def factor(
        self, *, shift: float, scale: float = 1.0, plus: Callable[[], Iterable[Features]] = tuple
    ) -> "Factor":
        """Return the Cholesky factor of ``scale * A + shift * I``, with `shift` as in `solve`.

        Where `plus` gives rows, (n, size), a few at a time, their Gram matrix is added before.
        """
        return factored(lambda: SymmetricMatrix(self.size, self.packed * scale), shift=shift, plus=plus)

    def scale_by(self, factors: Float64) -> None:
        """Multiply the entry of row i and column j by ``factors[i] * factors[j]``, in place."""
        for line, products in self.lines(factors):
            np.multiply(line, products, out=line)

    def lines(self, factors: Float64) -> Iterator[tuple[Float64, Float64]]:
        """Yield the packed triangle line by line, to read and to write, and for each entry its two factors' product.

        Every entry of one triangle comes once. The products are overwritten by those of the next line.
        """
        half, height = self._shape()
        products = np.empty(height)
        for at, line in enumerate(self.packed.reshape(-1, height)):
            end = half + at + 1
            np.multiply(factors[:end], factors[end - 1], out=products[:end])
            np.multiply(factors[at:half], factors[at], out=products[end:])
            yield line, products

    def _shape(self) -> tuple[int, int]:
        return _packed_shape(self.size)


def _packed_shape(size: int) -> tuple[int, int]:
    """Return half the size, and the length of a column of the packed triangle.

    The triangle is a rectangle, by columns: the right half of the upper triangle, and below it the left half,
    transposed.
    """
    return size // 2, size + 1 - size % 2


@lru_cache(maxsize=4)
def _diagonal_positions(size: int) -> Rows:
    half, height = _packed_shape(size)
    index = np.arange(size)
    column = np.where(index < half, index, index - half)
    row = np.where(index < half, half + 1 + index, index)
    return column * height + row


class MatrixTooLarge(MemoryError):
    """There is not enough memory for a matrix with a row and a column per dimension."""


def _empty_triangle(size: int) -> Float64:
    n_numbers = size * (size + 1) // 2
    check_room(size, 8 * n_numbers)
    try:
        return np.zeros(n_numbers)
    except MemoryError:
        raise _too_large(size, 8 * n_numbers, "more than there is") from None


def check_room(size: int, n_bytes: int) -> None:
    """Raise MatrixTooLarge where matrices of `size` rows, `n_bytes` in all, are larger than the machine's memory.

    Linux grants memory that it does not have, and kills the process that uses it.
    """
    there = physical_memory()
    if there is not None and n_bytes > there:
        raise _too_large(size, n_bytes, f"and this machine has {there / 1e9:.1f} GB")


def _too_large(size: int, n_bytes: int, here: str) -> MatrixTooLarge:
    return MatrixTooLarge(
        f"the covariance of {size} dimensions takes {n_bytes / 1e9:.1f} GB, {here}; reduce the features first "
        "(sklearn.random_projection), or use a learner without one: I2CANSAY as it comes, ncm or gaussian_nb"
    )


def physical_memory() -> int | None:
    """Return the bytes of physical memory, or None where the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return None


def factored(
    copy: Callable[[], SymmetricMatrix], *, shift: float, plus: Callable[[], Iterable[Features]]
) -> "Factor":
    """Return the Cholesky factor of the matrix that `copy` gives, with `shift` and `plus` as in `factor`.

    The copy is used up, and another one asked for where the shift was too small.
    """
    while True:
        shifted = copy()
        for rows in plus():
            shifted.add_gram(rows)
        size = shifted.size
        shift = least_shift(shift, size, float(shifted.diagonal().max(initial=0.0)))
        shifted.add_to_diagonal(shift)
        with threads_for(size**3 // 6):
            factor, failed_at = lapack.dpftrf(size, shifted.packed, overwrite_a=1)
        if not failed_at:
            return Factor(size, factor)
        if not 0 < shift < np.inf:
            raise ValueError("a symmetric matrix with entries that are not finite cannot be solved")
        shift *= 100


class Factor:
    """The Cholesky factor of a (size, size) matrix, packed as `SymmetricMatrix` has it."""

    def __init__(self, size: int, packed: Float64) -> None:
        self._size = size
        self._packed = packed

    def solve(self, rows: Float64, *, overwrite: bool = False) -> Float64:
        """Return the solution for each row of `rows`, (k, size); with `overwrite` in the place of `rows`."""
        if len(rows) == 0:
            return np.zeros((0, self._size))
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        with threads_for(len(rows) * self._size**2):
            solution, _ = lapack.dpftrs(self._size, self._packed, rows.T, overwrite_b=overwrite)
        found: Float64 = solution.T
        return found

    def trace_of_inverse(self) -> float:
        """Return the trace of the inverse, of a large one an estimate; the factor is used up."""
        if self._size <= EXACT_UP_TO:
            return self.inverse().trace()
        signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(SIGNS, self._size))
        return float(np.einsum("sd,sd->", signs, self.solve(signs))) / SIGNS

    def inverse(self) -> SymmetricMatrix:
        """Return the inverse of the matrix; the factor is used up."""
        with threads_for(self._size**3 // 3):
            packed, _ = lapack.dpftri(self._size, self._packed, overwrite_a=1)
        return SymmetricMatrix(self._size, packed)


def least_shift(shift: float, size: int, largest: float) -> float:
    """Return `shift`, raised where rounding would swallow it beside the `largest` entry of the diagonal."""
    return max(shift, 10 * float(np.finfo(np.float64).eps) * size * largest)


def pack32(dense: Float32) -> Float32:
    """Return the triangle of a symmetric float32 matrix, (size, size), packed as `SymmetricMatrix` has it."""
    packed: Float32 = lapack.strttf(dense)[0]
    return packed


def unpack32(size: int, packed: Float32) -> Float32:
    """Undo `pack32`.

    Examples
    --------
    >>> unpack32(2, pack32(np.array([[1.0, 2.0], [2.0, 5.0]], dtype=np.float32)))
    array([[1., 2.],
           [2., 5.]], dtype=float32)
    """
    upper: Float32 = lapack.stfttr(size, packed)[0]
    return _mirrored(upper)


def _mirrored(upper: Matrix) -> Matrix:
    """Copy the upper triangle into the lower one, in place, in blocks that stay in the cache.

    LAPACK returns it in column order; the result, being symmetric, is returned in row order, as products here need.
    """
    for start in range(0, len(upper), MIRRORED):
        stop = min(start + MIRRORED, len(upper))
        upper[start:stop, :start] = upper[:start, start:stop].T
        corner = np.triu(upper[start:stop, start:stop])
        upper[start:stop, start:stop] = corner + np.triu(corner, 1).T
    return upper.T
