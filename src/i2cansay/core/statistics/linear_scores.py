"""Scores that are linear in the features: the result of every closed form."""

from typing import NamedTuple

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.types import Features, Float64

# Rows scored at a time, so that the float64 copy of the features stays small.
BLOCK = 4096


class LinearScores(NamedTuple):
    """``(x - centre) . weights_c + offset_c``: `centre` (d,), `weights` (c, d), `offset` (c,), all float64.

    Measured from a centre in the middle of the data, because far from the origin the product and the offset
    would be large and cancel.

    Examples
    --------
    >>> LinearScores(np.array([1.0]), np.array([[2.0], [-2.0]]), np.array([0.5, 0.0])).of(np.array([[3.0]]))
    array([[ 4.5, -4. ]])
    """

    centre: Float64
    weights: Float64
    offset: Float64

    def of(self, X: Features) -> Float64:
        """Return the scores of `X`, (n, d), as (n, c)."""
        scores = np.empty((len(X), len(self.weights)))
        for start in range(0, len(X), BLOCK):
            block = slice(start, start + BLOCK)
            scores[block] = inner(X[block] - self.centre, self.weights)
        scores += self.offset
        return scores
