"""Components that begin to take part one after the other, each orthogonal to the earlier ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Float32, State


class OpenedComponents:
    """Which of `n` components take part, and which of these are fixed: a part of a learner's state.

    Examples
    --------
    >>> components = OpenedComponents(5)
    >>> components.open(2), components.open(2), components.open(2)
    ((0, 2), (2, 4), (4, 5))
    >>> components.trained()
    array([False, False, False, False,  True])
    >>> components.open(2)  # none is left: those of the last time go on
    (5, 5)
    >>> components.fixed, components.opened
    (4, 5)
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self.fixed = self.opened = 0

    def open(self, n: int) -> tuple[int, int]:
        """Open up to `n` more, fix the earlier ones, and return the first opened and the one behind the last."""
        start, stop = self.opened, min(self.opened + n, self._n)
        if stop > start:
            self.fixed, self.opened = start, stop
        return start, stop

    def trained(self) -> NDArray[np.bool_]:
        """Return which of all components may change, (n,)."""
        places = np.arange(self._n)
        return (self.fixed <= places) & (places < self.opened)

    def resize(self, n_classes: int) -> None:
        """Do nothing: components are not classes."""

    def drop(self, row: int) -> None:
        """Do nothing: components are not classes."""

    def state(self) -> State:
        """Return how many are fixed and how many are open."""
        return {"counts": np.array([self.fixed, self.opened])}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned."""
        counts = state["counts"]
        if counts.shape != (2,) or not 0 <= counts[0] <= counts[1] <= self._n:
            raise ValueError(f"expected two growing counts of at most {self._n} components, got {counts}")
        self.fixed, self.opened = (int(count) for count in counts)


def orthogonal_to(earlier: Float32, rows: Float32) -> Float32:
    """Return rows, (m, d), of length one without their part along the earlier ones, (k, d), and each other.

    Where the earlier rows and those before it leave no room, a row stays as it is.

    Examples
    --------
    >>> orthogonal_to(np.eye(3, dtype=np.float32)[:1], np.ones((1, 3), np.float32)).round(3)
    array([[0.   , 0.707, 0.707]], dtype=float32)
    """
    done = [*_unit(earlier)]
    found = []
    for row in rows:
        rest = row.astype(np.float64)
        for _ in range(2):  # once more for what rounding and unequal angles left
            for direction in done:
                rest = rest - (rest @ direction) * direction
        length = np.linalg.norm(rest)
        kept = rest / length if length > 1e-6 * max(float(np.linalg.norm(row)), 1e-30) else row
        found.append(kept)
        done.append(kept)
    return np.array(found, dtype=np.float32).reshape(rows.shape)


def _unit(rows: Float32) -> NDArray[np.float64]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-30), dtype=np.float64)
