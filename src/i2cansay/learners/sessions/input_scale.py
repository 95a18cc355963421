"""One number by which all features are divided, taken from the first session."""

import numpy as np

from i2cansay.core.types import Features, Float32, State


class InputScale:
    """The root mean square of the features of the first session, by which all are divided.

    Examples
    --------
    >>> scale = InputScale()
    >>> scale.apply(np.array([[3.0, -3.0]]), learn=True), scale.apply(np.array([[6.0, 0.0]]))
    (array([[ 1., -1.]], dtype=float32), array([[2., 0.]], dtype=float32))
    """

    def __init__(self) -> None:
        self._value = np.zeros(1)

    def apply(self, X: Features, *, learn: bool = False) -> Float32:
        """Return rows (n, d) divided by the scale; with `learn`, it is taken from them unless it is known."""
        if learn and not self._value[0]:
            largest = float(np.abs(X).max(initial=0))
            scaled = X / (largest or 1.0)
            self._value[0] = largest * float(np.sqrt(np.mean(scaled**2))) or 1.0
        found: Float32 = (X / self._value[0]).astype(np.float32)
        return found

    def resize(self, n_classes: int) -> None:
        """Do nothing: it does not depend on the classes."""

    def drop(self, row: int) -> None:
        """Do nothing."""

    def state(self) -> State:
        """Return the `value`."""
        return {"value": self._value}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned."""
        if state["value"].shape != (1,):
            raise ValueError("the scale of the inputs should be one number")
        self._value = state["value"].astype(np.float64)
