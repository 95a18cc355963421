"""Blocks of dimensions: features put together from several sources, each of which has a unit of its own."""

from collections.abc import Iterator, Sequence

import numpy as np

from i2cansay.core.types import Float64, Rows


class Blocks:
    """Groups of neighbouring dimensions, by their `widths`.

    Examples
    --------
    >>> blocks = Blocks((1, 2))
    >>> blocks.sums(np.array([5.0, 1.0, 2.0]))
    array([5., 3.])
    >>> blocks.expand(np.array([7.0, 8.0]))
    array([7., 8., 8.])
    """

    def __init__(self, widths: Sequence[int]) -> None:
        self.widths: Rows = np.array(widths, dtype=np.int64)
        ends = np.cumsum(self.widths).tolist()
        self._slices = [slice(end - width, end) for end, width in zip(ends, widths, strict=True)]

    def __len__(self) -> int:
        return len(self._slices)

    def __iter__(self) -> Iterator[slice]:
        return iter(self._slices)

    def sums(self, values: Float64) -> Float64:
        """Return the sum of `values`, (d,), over each block, (b,)."""
        return np.array([values[block].sum() for block in self._slices])

    def means(self, values: Float64) -> Float64:
        """Return the mean of `values`, (d,), over each block, (b,)."""
        return np.array([values[block].mean() for block in self._slices])

    def largest(self, values: Float64) -> Float64:
        """Return the largest of `values`, (..., d), none of them below zero, in each block, (..., b)."""
        return np.stack([values[..., block].max(axis=-1, initial=0.0) for block in self._slices], axis=-1)

    def expand(self, values: Float64) -> Float64:
        """Return the value of each dimension's block, (d,), of `values`, (b,)."""
        return np.repeat(values, self.widths)
