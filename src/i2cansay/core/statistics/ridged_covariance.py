"""The shared covariance with a ridge that is held in absolute numbers while samples pass.

Symbols, beside those of `scatter`: r_b -> ridge of block b, s -> scale.

Shrinkage e makes ``A = (1 - e) S/N + e blockdiag(v_b I)``, which is ``(S + blockdiag(r_b I)) / s`` with
``r_b = N e/(1 - e) v_b`` and ``s = N + N e/(1 - e)``. Each sample changes v_b a little, and with it every entry of
A^-1. As long as the r_b are held, a sample adds one row to S and nothing else changes but s, which is a number:
``s = N + r/v``, the quotient averaged over the dimensions of all blocks.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from i2cansay.core.linalg.scaled import ScaledMatrix
from i2cansay.core.linalg.symmetric import Factor, SymmetricMatrix
from i2cansay.core.statistics.scatter import CLASSES_AT_A_TIME, SharedScatter
from i2cansay.core.types import Float64

# A ridge below this share of all squares of a block would leave too few digits, and is raised to it.
LEAST_SHARE = 1e-11


def absolute_ridge(scatter: SharedScatter, shrinkage: float) -> Float64 | None:
    """Return the ridge of each block, (b,), that comes to this shrinkage now; 0 for a block that is left out.

    None where the sphere is everything, and as long as a block takes part without any spread within the classes.

    Examples
    --------
    >>> scatter = SharedScatter(3, blocks=(2, 1))
    >>> scatter.resize(1)
    >>> scatter.add(np.array([[0.0, 0.0, 1.0], [2.0, 0.0, 1.0]]), np.array([0, 0]))
    >>> absolute_ridge(scatter, 0.5)
    array([1., 0.])
    """
    variances, total = scatter.variances, scatter.means.total
    if not 0 < shrinkage < 1 or not fits(scatter, variances):
        return None
    ridge: Float64 = max(shrinkage / (1 - shrinkage), LEAST_SHARE * scatter.width) * total * variances
    return ridge


def fits(scatter: SharedScatter, ridge: Float64) -> bool:
    """Return whether the blocks that take part are those of a `ridge`, (b,), each with spread within the classes."""
    spread = scatter.variances > 0
    if not np.array_equal(spread, ridge > 0) or not spread.any():
        return False
    # A block without any takes part as soon as it tells classes apart.
    return bool(spread.all() or np.array_equal(scatter.spheres() > 0, spread))


class RidgedCovariance:
    """``A = (S + blockdiag(r_b I)) / s`` of a scatter as it is now, for a `ridge`, (b,), that `fits` it.

    Examples
    --------
    >>> scatter = SharedScatter(2)
    >>> scatter.resize(1)
    >>> scatter.add(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [2.0, 1.0]]), np.zeros(4, dtype=np.int64))
    >>> held = RidgedCovariance(scatter, absolute_ridge(scatter, 0.2))
    >>> np.allclose(held.solve(np.eye(2)), scatter.solve_shrunk(np.eye(2), 0.2))
    True
    """

    def __init__(self, scatter: SharedScatter, ridge: Float64) -> None:
        self._scatter, self._ridge = scatter, ridge
        variances, widths = scatter.variances, scatter.blocks.widths * (ridge > 0)
        ratios = np.divide(ridge, variances, out=np.zeros_like(ridge), where=ridge > 0)
        self.penalty = float((ratios * widths).sum() / widths.sum())
        """The ridge in units of the mean variance."""
        self.scale = scatter.means.total + self.penalty
        """s."""

    @property
    def shrinkage(self) -> float:
        """The share of the sphere."""
        return self.penalty / self.scale

    def solve(self, B: Float64) -> Float64:
        """Return the rows ``A^-1 b`` for the rows of `B`, (k, d)."""
        return self._by(self._scaled().factor(shift=1.0), B)

    def solve_with_means(self, B: Float64, centre: Float64) -> Float64:
        """Return the rows ``(A + mean_c p_c p_c^T)^-1 b`` for the rows of `B`, (k, d); means p_c from `centre`."""
        mean = self._scatter.means.mean

        def between() -> Iterator[Float64]:
            for start in range(0, len(mean), CLASSES_AT_A_TIME):
                rows = mean[start : start + CLASSES_AT_A_TIME] - centre
                yield rows * (self._factors * (self.scale / len(mean)) ** 0.5)

        return self._by(self._scaled().factor(shift=1.0, plus=between), B)

    def solve_and_invert(self, B: Float64) -> tuple[Float64, SymmetricMatrix]:
        """Return `solve`, and ``A^-1 / s``, the inverse of ``S + blockdiag(r_b I)``: 0 in blocks left out."""
        factor = self._scaled().factor(shift=1.0)
        solved, inverse = self._by(factor, B), factor.inverse()
        inverse.scale_by(self._factors)
        return solved, inverse

    def _by(self, factor: Factor, B: Float64) -> Float64:
        solved = factor.solve(B * self._factors, overwrite=True)
        solved *= self._factors * self.scale
        return solved

    @cached_property
    def _factors(self) -> Float64:
        roots = np.sqrt(self._ridge)
        return self._scatter.blocks.expand(np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0))

    def _scaled(self) -> ScaledMatrix:
        return ScaledMatrix(self._scatter.matrix, self._factors)
