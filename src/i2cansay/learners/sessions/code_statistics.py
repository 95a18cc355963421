"""Mean and covariance of the codes of each class, and codes drawn from them."""

from typing import Any

import numpy as np

from i2cansay.core.class_rows import ClassRows
from i2cansay.core.part_bytes import room
from i2cansay.core.types import Features, Float64, State
from i2cansay.learners.sessions.losses import Columns


class CodeStatistics:
    """A Gaussian per class in the space of codes; a class that was never described has none.

    Examples
    --------
    >>> statistics, rng = CodeStatistics(width=2), np.random.default_rng(0)
    >>> statistics.resize(1)
    >>> statistics.describe(0, np.array([[0.0, 0.0], [2.0, 4.0]]))
    >>> codes = statistics.sample(0, 1000, rng)
    >>> bool(np.allclose(codes[:, 1], 2 * codes[:, 0]))  # as full covariances have it
    True
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self._count = ClassRows(width=None)
        self._mean = ClassRows(width=width, dtype=np.float32)
        self._covariance = ClassRows(width=width * width, dtype=np.float32)

    @property
    def described(self) -> Columns:
        """Which classes have a Gaussian, (c,); a copy."""
        known: Columns = self._count.rows > 0
        return known

    def describe(self, row: int | np.integer[Any], codes: Features, *, diagonal: bool = False) -> None:
        """Set the Gaussian of a class from codes (n, width); with `diagonal` only their variances are kept."""
        codes = codes.astype(np.float64)
        offset = codes - codes.mean(axis=0)
        covariance = offset.T @ offset / len(codes)
        if diagonal:
            covariance = np.diag(np.diag(covariance))
        self._count.rows[row] = len(codes)
        self._mean.rows[row] = codes.mean(axis=0)
        self._covariance.rows[row] = covariance.ravel()

    def sample(self, row: int | np.integer[Any], n: int, rng: np.random.Generator) -> Float64:
        """Draw `n` codes of a class, (n, width)."""
        covariance = self._covariance.rows[row].reshape(self.width, self.width).astype(np.float64)
        values, vectors = np.linalg.eigh(covariance)
        # Of few samples most eigenvalues are zero, and rounding makes some of them less.
        scaled = vectors * np.sqrt(np.maximum(values, 0))
        drawn: Float64 = self._mean.rows[row] + rng.normal(size=(n, self.width)) @ scaled.T
        return drawn

    def _parts(self) -> dict[str, ClassRows]:
        return {"count": self._count, "mean": self._mean, "covariance": self._covariance}

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` classes."""
        for part in self._parts().values():
            part.resize(n_classes)

    def drop(self, row: int) -> None:
        """Remove one class."""
        for part in self._parts().values():
            part.drop(row)

    def state(self) -> State:
        """Return `count`, `mean` and `covariance`."""
        return {name: part.rows for name, part in self._parts().items()}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes."""
        for name, part in self._parts().items():
            part.restore({"rows": state[name]}, n_classes)


def code_statistics_bytes(width: int, n_classes: int) -> int:
    """Return the bytes of `CodeStatistics`."""
    return room(n_classes) * (8 + 4 * width + 4 * width * width)
