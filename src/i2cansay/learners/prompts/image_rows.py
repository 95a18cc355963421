"""Images as rows of features: where in a row the pixels are, and where the query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from i2cansay.core.types import Float32
from i2cansay.learners.prompts.transformer_weights import TransformerWeights


class ImageRows(NamedTuple):
    """How rows of features are read as images.

    Attributes
    ----------
    n_features : int
        Width of a row.
    n_query : int
        Numbers at its beginning that are the encoder's class token; 0 where it has to be computed.
    n_pixels : int
        Numbers that the network wants; a row that has fewer pixels is filled with zeros.

    Examples
    --------
    >>> rows = ImageRows(n_features=7, n_query=2, n_pixels=12)
    >>> pixels, query = rows.split(np.arange(7, dtype=np.float32)[None])
    >>> query, pixels
    (array([[0., 1.]], dtype=float32), array([[2., 3., 4., 5., 6., 0., 0., 0., 0., 0., 0., 0.]], dtype=float32))
    """

    n_features: int
    n_query: int
    n_pixels: int

    @classmethod
    def of(cls, n_features: int, weights: TransformerWeights, blocks: Sequence[int] | None) -> ImageRows:
        """Check that rows of this width, of blocks of these widths, are images for a network."""
        n_query, n_pixels = 0, 3 * weights.side**2
        if blocks and len(blocks) > 1:
            if tuple(blocks) != (weights.width, n_pixels) or sum(blocks) != n_features:
                raise ValueError(
                    f"expected blocks of {weights.width} (the class token) and {n_pixels} numbers (the pixels), got "
                    f"{tuple(blocks)} in rows of {n_features}; was it encoded with +pixels at {weights.side} px?"
                )
            n_query = weights.width
        if n_features - n_query > n_pixels or cls.least_side(n_features - n_query) != weights.side:
            raise ValueError(
                f"expected images of {weights.side} x {weights.side} pixels, {n_pixels} numbers to a row, got "
                f"{n_features - n_query}"
            )
        return cls(n_features, n_query, n_pixels)

    @staticmethod
    def least_side(n_pixels: int) -> int:
        """Return the side of the smallest square of coloured pixels with room for so many numbers.

        Examples
        --------
        >>> ImageRows.least_side(27_648), ImageRows.least_side(6)
        (96, 2)
        """
        return int(np.ceil(np.sqrt(n_pixels / 3) - 1e-9))

    def split(self, X: Float32) -> tuple[Float32, Float32 | None]:
        """Return the pixels, (n, n_pixels), and the queries, (n, n_query), if the rows have them."""
        pixels = np.ascontiguousarray(X[:, self.n_query :])
        missing = self.n_pixels - pixels.shape[1]
        if missing:
            pixels = np.pad(pixels, ((0, 0), (0, missing)))
        return pixels, np.ascontiguousarray(X[:, : self.n_query]) if self.n_query else None
