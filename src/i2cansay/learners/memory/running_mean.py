"""The mean of all samples so far, whatever their class."""

import numpy as np

from i2cansay.core.state_parts import LARGEST_FEATURE, check_range
from i2cansay.core.types import Features, Float64, State


class RunningMean:
    """Mean and total weight of the samples; both stay as they are when a class is dropped.

    Examples
    --------
    >>> mean = RunningMean(n_features=1)
    >>> mean.add(np.array([[1.0], [4.0]]), np.array([2.0, 1.0]))
    >>> mean.value
    array([2.])
    """

    def __init__(self, n_features: int) -> None:
        self.value: Float64 = np.zeros(n_features)
        """The mean, (d,)."""
        self.total = 0.0
        """Weight of the samples."""

    def add(self, X: Features, weights: Float64) -> None:
        """Add samples, (n, d), of the given weights, (n,)."""
        self.total += weights.sum()
        self.value += np.einsum("n,nd->d", weights, X - self.value) / self.total

    def resize(self, n_classes: int) -> None:
        """Do nothing: all classes count together."""

    def drop(self, row: int) -> None:
        """Do nothing: what the samples of a class added stays."""

    def state(self) -> State:
        """Return `value` and `total`."""
        return {"value": self.value, "total": np.array([self.total])}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of this width."""
        if state["value"].shape != self.value.shape or state["total"].shape != (1,):
            raise ValueError(f"expected one mean of width {len(self.value)} and one total weight")
        check_range("the mean of all samples", state["value"], -LARGEST_FEATURE, LARGEST_FEATURE)
        check_range("the weight of all samples", state["total"])
        self.value, self.total = state["value"].astype(np.float64), float(state["total"][0])
