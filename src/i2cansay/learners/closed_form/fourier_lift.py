"""Random Fourier features: a lift in which inner products approximate the Gaussian kernel."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.types import Features, Float64
from i2cansay.learners.seeded_draw import SeededDraw

# Rows lifted at a time: 40 MB at 10,000 projections, and enough to keep the product with itself busy.
BLOCK = 512


class FourierLift(SeededDraw[tuple[Float64, Float64]]):
    """``sqrt(2/M) cos(f R / s + b)``: R is drawn from N(0, 1) and b uniformly from 0 to 2 pi, once.

    The inner product of two lifted samples approximates ``exp(-|f - g|^2 / (2 s^2))``.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None
        Where the seed is taken from. R and b are drawn again from the seed and never saved.
    n_features : int
    n_projections : int
        M.
    bandwidth : float
        s.
    normalize : bool
        Whether every sample is scaled to length one first.

    References
    ----------
    Rahimi, Recht (2007), Random features for large-scale kernel machines, NIPS.

    Examples
    --------
    >>> lift = FourierLift(0, n_features=2, n_projections=10_000, bandwidth=1.0, normalize=False)
    >>> lifted = lift.of(np.array([[0.0, 0.0], [1.0, 1.0]]))
    >>> bool(abs(lifted[0] @ lifted[1] - np.exp(-1)) < 0.05)
    True
    """

    def __init__(
        self, random_state: Any, *, n_features: int, n_projections: int, bandwidth: float, normalize: bool
    ) -> None:
        super().__init__(random_state)
        self.n_features = n_features
        self.n_projections = n_projections
        self.bandwidth = bandwidth
        self.normalize = normalize

    def of(self, X: Features) -> Float64:
        """Return the random Fourier features of `X`, (n, d), as (n, M)."""
        directions, phases = self.get(self.draw)
        X = np.asarray(X, dtype=np.float64)
        if self.normalize:
            # Divided by the largest entry first: squares of tiny or huge values would underflow or overflow.
            largest = np.abs(X).max(axis=1, keepdims=True)
            X = X / np.where(largest > 0, largest, 1.0)
            X /= np.maximum(np.sqrt(np.einsum("nd,nd->n", X, X)), 1.0)[:, None]
        lifted = np.asarray(inner(X / self.bandwidth, directions), dtype=np.float64)
        lifted += phases
        np.cos(lifted, out=lifted)
        lifted *= np.sqrt(2 / self.n_projections)
        return lifted

    def lifted_blocks(self, X: Features) -> Iterator[tuple[slice, Float64]]:
        """Yield the rows of `X` a few at a time: where they are, and their lift."""
        for start in range(0, len(X), BLOCK):
            block = slice(start, start + BLOCK)
            yield block, self.of(X[block])

    def draw(self, rng: np.random.Generator) -> tuple[Float64, Float64]:
        """Return R transposed, (M, d), and b, (M,)."""
        directions = rng.standard_normal((self.n_projections, self.n_features))
        return directions, rng.uniform(0, 2 * np.pi, self.n_projections)
