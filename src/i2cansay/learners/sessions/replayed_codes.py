"""Codes of old classes, drawn once for a session and used in every pass of it."""

from collections.abc import Iterator

import numpy as np

from i2cansay.core.types import Float32, Rows
from i2cansay.learners.sessions.code_statistics import CodeStatistics


class ReplayedCodes:
    """As many codes of every old class, from its Gaussian; none is negative, as rectified units never are.

    Examples
    --------
    >>> statistics, rng = CodeStatistics(width=2), np.random.default_rng(0)
    >>> statistics.resize(1)
    >>> statistics.describe(0, np.array([[0.0, 3.0], [1.0, 5.0]]))
    >>> replayed = ReplayedCodes(statistics, np.array([0]), 50, rng)
    >>> codes, classes = replayed.draw(3, rng)
    >>> codes.shape, bool(codes.min() >= 0), classes
    ((3, 2), True, array([0, 0, 0]))
    """

    def __init__(
        self, statistics: CodeStatistics, classes: Rows, n_each: int, rng: np.random.Generator
    ) -> None:
        self._classes, self._n_each = classes, n_each
        self._codes = np.empty((len(classes), n_each, statistics.width), dtype=np.float32)
        for place, row in enumerate(classes):
            self._codes[place] = np.maximum(statistics.sample(row, n_each, rng), 0)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Float32, Rows]:
        """Return `n` of the codes, (n, width), each of a random class, and their classes, (n,)."""
        places = rng.integers(len(self._classes), size=n)
        return self._codes[places, rng.integers(self._n_each, size=n)], self._classes[places]

    def by_class(self) -> Iterator[tuple[int, Float32]]:
        """Yield each class with all of its codes, (n_each, width)."""
        yield from zip(self._classes.tolist(), self._codes, strict=True)
