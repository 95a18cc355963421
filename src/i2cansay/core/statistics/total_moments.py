"""Count, mean and centred squares of all samples together, whatever their class."""

import numpy as np

from i2cansay.core.paper.moments import ClassMoments
from i2cansay.core.types import Features, Float64, State

ONLY = np.zeros(1, dtype=np.int64)


class TotalMoments:
    """The moments of everything learnt; they stay as they are when a class is dropped.

    Examples
    --------
    >>> total = TotalMoments(n_features=1)
    >>> total.add(np.array([[1.0], [3.0]]))
    >>> total.count, total.mean, total.variance()
    (2.0, array([2.]), array([1.]))
    """

    def __init__(self, n_features: int) -> None:
        self._moments = ClassMoments(n_features)
        self._moments.resize(1)

    @property
    def count(self) -> float:
        """Samples, or their weight."""
        return self._moments.count.item()

    @property
    def mean(self) -> Float64:
        """Their mean, (d,); a view."""
        mean: Float64 = self._moments.mean[0]
        return mean

    @property
    def m2(self) -> Float64:
        """Their centred sums of squares, (d,); a view."""
        m2: Float64 = self._moments.m2[0]
        return m2

    def variance(self) -> Float64:
        """Return their variance by dimension, (d,)."""
        return self.m2 / self.count

    def add(self, X: Features, weights: Float64 | None = None) -> None:
        """Add samples, (n, d)."""
        self._moments.add(X, np.zeros(len(X), dtype=np.int64), weights)

    def merge(self, other: "TotalMoments") -> None:
        """Add the samples of `other`."""
        self._moments.merge(other._moments.read(), ONLY)

    def resize(self, n_classes: int) -> None:
        """Do nothing: all classes count together."""

    def drop(self, row: int) -> None:
        """Do nothing: what the samples of a class added stays."""

    def state(self) -> State:
        """Return `count`, `mean` and `m2`, of one row."""
        return self._moments.state()

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned."""
        self._moments.restore(state, 1)
