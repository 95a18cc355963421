"""Every sample so far, for the offline upper bound."""

import numpy as np

from i2cansay.core.state_parts import LARGEST_FEATURE, check_range
from i2cansay.core.types import Features, Float64, Rows, State


class CollectedSamples:
    """Samples, the rows of their classes and their weights, in the order in which they came.

    Examples
    --------
    >>> samples = CollectedSamples(n_features=1)
    >>> samples.add(np.array([[1.0], [2.0]]), np.array([0, 1]), None)
    >>> samples.drop(0)
    >>> samples.X, samples.rows, samples.weights
    (array([[2.]]), array([0]), array([1.]))
    """

    def __init__(self, n_features: int) -> None:
        self._blocks = [np.zeros((0, n_features), dtype=np.float32)]
        self._rows = [np.zeros(0, dtype=np.int64)]
        self._weights = [np.zeros(0)]

    def add(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        """Keep a copy of samples, (n, d), of the given classes, (n,)."""
        self._blocks.append(X.copy())
        self._rows.append(rows.copy())
        self._weights.append(np.ones(len(X)) if weights is None else weights.copy())

    @property
    def X(self) -> Features:
        """All samples, (n, d); float32 as long as all were."""
        self._blocks = [np.concatenate(self._blocks)]
        return self._blocks[0]

    @property
    def rows(self) -> Rows:
        """The rows of their classes, (n,)."""
        self._rows = [np.concatenate(self._rows)]
        return self._rows[0]

    @property
    def weights(self) -> Float64:
        """Their weights, (n,)."""
        self._weights = [np.concatenate(self._weights)]
        return self._weights[0]

    def resize(self, n_classes: int) -> None:
        """Do nothing: samples are kept one by one, whatever their class."""

    def drop(self, row: int) -> None:
        """Remove the samples of one class; the classes behind it move up."""
        keep = self.rows != row
        left = self.rows[keep]
        self._set(self.X[keep], left - (left > row), self.weights[keep])

    def state(self) -> State:
        """Return `X`, `rows` and `weights`."""
        return {"X": self.X, "rows": self.rows, "weights": self.weights}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes of this width."""
        X, rows, weights = state["X"], state["rows"], state["weights"]
        if X.ndim != 2 or X.shape[1:] != self.X.shape[1:] or not rows.shape == weights.shape == X.shape[:1]:
            raise ValueError("the collected samples, their classes and weights do not fit together")
        if not np.array_equal(np.unique(rows), np.arange(n_classes)):
            raise ValueError(f"the collected samples should be of {n_classes} classes")
        if X.dtype not in (np.float32, np.float64):
            raise ValueError(f"the collected samples should be float32 or float64, not {X.dtype}")
        check_range("a collected sample", X, -LARGEST_FEATURE, LARGEST_FEATURE)
        check_range("the weight of a sample", weights)
        self._set(X.copy(), rows.astype(np.int64), weights.astype(np.float64))

    def _set(self, X: Features, rows: Rows, weights: Float64) -> None:
        self._blocks, self._rows, self._weights = [X], [rows], [weights]
