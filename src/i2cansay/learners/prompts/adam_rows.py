"""Arrays that Adam trains, row by row: each row counts its own steps, so that one that comes late starts afresh."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.state_parts import add_prefix, check_range, strip_prefix
from i2cansay.core.types import Float32, Rows, State

FIRST_DECAY, SECOND_DECAY, EPSILON = 0.9, 0.999, 1e-8
NAMES = ("values", "first", "second", "steps")
# Trained numbers stay far below it; a file with larger ones is damaged.
LARGEST = 1e15


class AdamRows:
    """An array of any shape with Adam's two moments, and a count of steps for each row of its first axis.

    Examples
    --------
    >>> rows = AdamRows(np.zeros((2, 1), np.float32))
    >>> rows.step(np.array([[5.0], [-0.1]], np.float32), lr=0.5)  # the first step is as long as the rate
    >>> rows.values.round(3).ravel()
    array([-0.5,  0.5], dtype=float32)
    >>> rows.step(np.ones((2, 1), np.float32), lr=0.5, trained=np.array([False, True]))
    >>> rows.steps
    array([1, 2])
    """

    def __init__(self, values: Float32) -> None:
        # Laid out as a file gives them back: sums over another layout round differently.
        self.values = np.array(values, dtype=np.float32, order="C")
        self.first, self.second = np.zeros_like(self.values), np.zeros_like(self.values)
        self.steps: Rows = np.zeros(len(self.values), dtype=np.int64)

    def step(self, gradient: Float32, lr: float, trained: NDArray[np.bool_] | None = None) -> None:
        """Take a step against a gradient; only in the rows that are `trained`, (rows,), where that is given."""
        rows = np.arange(len(self.values)) if trained is None else np.flatnonzero(trained)
        g = gradient[rows]
        first = FIRST_DECAY * self.first[rows] + (1 - FIRST_DECAY) * g
        second = SECOND_DECAY * self.second[rows] + (1 - SECOND_DECAY) * g * g
        self.steps[rows] += 1
        steps = self.steps[rows].reshape(-1, *(1,) * (g.ndim - 1)).astype(np.float64)
        length = (first / (1 - FIRST_DECAY**steps)) / (np.sqrt(second / (1 - SECOND_DECAY**steps)) + EPSILON)
        self.values[rows] -= (lr * length).astype(np.float32)
        self.first[rows], self.second[rows] = first, second

    def start_over(self) -> None:
        """Forget moments and steps, as if the optimiser were made anew."""
        self.first[:] = 0
        self.second[:] = 0
        self.steps[:] = 0

    def resize(self, n: int) -> None:
        """Have `n` rows; new ones are zero."""
        for name in NAMES:
            array = getattr(self, name)
            grown = np.zeros((n, *array.shape[1:]), dtype=array.dtype)
            grown[: min(n, len(array))] = array[:n]
            setattr(self, name, grown)

    def drop(self, row: int) -> None:
        """Remove a row; those behind it move up."""
        for name in NAMES:
            setattr(self, name, np.delete(getattr(self, name), row, axis=0))

    def state(self) -> State:
        """Return values, moments and steps."""
        return {name: getattr(self, name) for name in NAMES}

    def restore(self, state: State, n_rows: int) -> None:
        """Take over what `state()` returned, which must have `n_rows` rows."""
        shape = (n_rows, *self.values.shape[1:])
        for name in NAMES:
            expected = shape[:1] if name == "steps" else shape
            if state[name].shape != expected:
                raise ValueError(f"trained {name} should be of shape {expected}, not {state[name].shape}")
        check_range("trained values", state["values"], -LARGEST, LARGEST)
        check_range("a first moment", state["first"], -LARGEST, LARGEST)
        check_range("a second moment", state["second"], 0.0, LARGEST**2)
        check_range("a count of steps", state["steps"])
        for name in NAMES:
            setattr(self, name, np.array(state[name], dtype=getattr(self, name).dtype))


class TrainedArrays:
    """Several `AdamRows` by name, as one part of a learner's state.

    Parameters
    ----------
    arrays : mapping of names to arrays
        How they start.
    by_class : bool
        Whether a row is a class: then they grow and shrink with the classes.

    Examples
    --------
    >>> empty = {"weights": np.zeros((0, 4), np.float32), "bias": np.zeros(0, np.float32)}
    >>> head = TrainedArrays(empty, by_class=True)
    >>> head.resize(3)
    >>> head["weights"].values.shape, head["bias"].values.shape
    ((3, 4), (3,))
    """

    def __init__(self, arrays: Mapping[str, Float32], *, by_class: bool = False) -> None:
        self._arrays = {name: AdamRows(array) for name, array in arrays.items()}
        self._by_class = by_class

    def __getitem__(self, name: str) -> AdamRows:
        return self._arrays[name]

    def names(self) -> tuple[str, ...]:
        """Return the names of the arrays."""
        return tuple(self._arrays)

    def start_over(self) -> None:
        """Forget all moments and steps."""
        for array in self._arrays.values():
            array.start_over()

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` rows, where rows are classes."""
        if self._by_class:
            for array in self._arrays.values():
                array.resize(n_classes)

    def drop(self, row: int) -> None:
        """Remove one class, where rows are classes."""
        if self._by_class:
            for array in self._arrays.values():
                array.drop(row)

    def state(self) -> State:
        """Return the state of every array."""
        state: State = {}
        for name, array in self._arrays.items():
            state |= add_prefix(name, array.state())
        return state

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes."""
        for name, array in self._arrays.items():
            array.restore(strip_prefix(state, name), n_classes if self._by_class else len(array.values))


def trained_bytes(n_numbers: int, n_rows: int) -> int:
    """Return the bytes of arrays with so many numbers in so many rows."""
    return 12 * n_numbers + 8 * n_rows
