"""Fewer dimensions: each block of the features is turned at random, and some of its new dimensions are kept.

A covariance of d dimensions takes d^2 numbers and d^3 work, so wide features are reduced before. With random signs s
and the orthonormal cosine transform T, block x of d dimensions becomes w of the d numbers ``T (s x)``, times
sqrt(d / w), so that lengths and inner products stay, on average. The rows of that matrix are orthonormal. It is
never formed, and applying it takes d log d operations.

Blocks are never mixed, so the unit of each is still its own. Signs and choice follow from the width of the block
alone, by a seed that never changes: any two learners of the same `width` see features the same way and can merge.

References
----------
Ailon, Chazelle (2009), The fast Johnson-Lindenstrauss transform and approximate nearest neighbors, SIAM Journal on
Computing 39(1).
Tropp (2011), Improved analysis of the subsampled randomized Hadamard transform, Advances in Adaptive Data Analysis
3(1).
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.fft import dct, idct

from i2cansay.core.statistics.blocks import Blocks
from i2cansay.core.types import Features, Float64, Rows

SEED = 2024
"""Of signs and choice, together with the width of a block."""


class Reduction:
    """Blocks of features, each reduced to its share of `most` dimensions; those that fit are left as they are.

    Parameters
    ----------
    widths : sequence of int
        Of the blocks.
    most : int
        Dimensions to reduce them to, at least one for each block.

    Examples
    --------
    >>> reduction = Reduction((600, 200), most=400)
    >>> reduction.widths
    (300, 100)
    >>> X = np.random.default_rng(0).standard_normal((1, 800))
    >>> bool(0.8 < np.linalg.norm(reduction.apply(X)) / np.linalg.norm(X) < 1.2)
    True
    """

    def __init__(self, widths: Sequence[int], most: int) -> None:
        self._blocks = Blocks(widths)
        self.widths = shares(widths, most)
        """Widths of the blocks once they are reduced."""

    @property
    def needed(self) -> bool:
        """Whether anything is reduced."""
        return sum(self.widths) < sum(self._blocks.widths)

    @property
    def drawn_bytes(self) -> int:
        """What signs and choice take once they are drawn."""
        return 8 * (int(self._blocks.widths.sum()) + sum(self.widths)) if self.needed else 0

    def apply(self, X: Features) -> Float64:
        """Return the rows of `X`, (n, d), reduced, (n, width), in float64: they round alike in every batch."""
        parts = [
            X[:, block] if kept is None else dct(X[:, block] * signs, norm="ortho")[:, kept]
            for block, (signs, kept) in zip(self._blocks, self._drawn, strict=True)
        ]
        return np.concatenate(parts, axis=1, dtype=np.float64)

    def fold(self, weights: Float64) -> Float64:
        """Return weights, (c, width), of reduced rows as weights of the rows themselves, (c, d).

        Examples
        --------
        >>> rng, reduction = np.random.default_rng(0), Reduction((6, 4), most=5)
        >>> X, weights = rng.standard_normal((3, 10)), rng.standard_normal((2, 5))
        >>> np.allclose(X @ reduction.fold(weights).T, reduction.apply(X) @ weights.T)
        True
        """
        parts = []
        for given, width, (signs, kept) in zip(
            Blocks(self.widths), self._blocks.widths, self._drawn, strict=True
        ):
            part = weights[:, given]
            if kept is not None:
                whole = np.zeros((len(weights), int(width)))
                whole[:, kept] = part
                part = (
                    idct(whole, norm="ortho") * signs
                )  # the transform is orthogonal: its inverse, transposed
            parts.append(part)
        return np.concatenate(parts, axis=1)

    def expand(self, rows: Float64) -> Float64:
        """Return the shortest rows, (n, d), that `apply` reduces to `rows`, (n, width)."""
        shares = [width / d for width, d in zip(self.widths, self._blocks.widths.tolist(), strict=True)]
        return self.fold(rows * np.repeat(shares, self.widths))

    @cached_property
    def _drawn(self) -> list[tuple[Float64, Rows | None]]:
        """Return for each block its signs, with the factor that keeps lengths, and which dimensions are kept."""
        return [_drawn(int(d), w) for d, w in zip(self._blocks.widths, self.widths, strict=True)]


def _drawn(d: int, width: int) -> tuple[Float64, Rows | None]:
    if width == d:
        return np.ones(0), None
    rng = np.random.default_rng((SEED, d))
    signs = rng.choice([-1.0, 1.0], size=d)
    return signs * np.sqrt(d / width), np.sort(rng.permutation(d)[:width])


def shares(widths: Sequence[int], most: int) -> tuple[int, ...]:
    """Return how many of `most` dimensions each block gets: all of its own, or in proportion to them, at least one.

    Examples
    --------
    >>> shares((1280, 1152, 1152), 4096), shares((6000, 2000, 1), 4001)
    ((1280, 1152, 1152), (3000, 1000, 1))
    """
    exact = np.array(widths) * min(most / sum(widths), 1.0)
    given = np.maximum(exact.astype(np.int64), 1)
    while (over := int(given.sum()) - min(most, sum(widths))) != 0:
        # One block after the other: those first that are farthest from their share.
        away = np.where(given > 1, given - exact, -np.inf) if over > 0 else exact - given
        given[away.argmax()] -= np.sign(over)
    return tuple(given.tolist())
