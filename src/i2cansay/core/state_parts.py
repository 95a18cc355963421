"""The parts of a state, each under a name of its own: "head.weights" is the array "weights" of the part "head"."""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from i2cansay.core.types import State

LARGEST_COUNT = 2.0**53
"""Up to here floats count in steps of one."""
LARGEST_FEATURE = 1e15
"""Features are below it, so that their squares fit into single precision."""


@runtime_checkable
class StatePart(Protocol):
    """A part of a learner's state, as `OnlineClassifier` uses each object that a learner names in `parts`.

    Examples
    --------
    >>> from i2cansay.core.statistics.means import ClassMeans
    >>> isinstance(ClassMeans(n_features=2), StatePart)
    True
    """

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` classes; a part that keeps nothing per class ignores it."""

    def drop(self, row: int) -> None:
        """Remove one class; the rows behind it move up."""

    def state(self) -> State:
        """Return everything it needs to go on, as named arrays; views are enough."""

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned; raise ValueError unless it is valid for `n_classes` classes."""


def add_prefix(part: str, state: State) -> State:
    """Return the arrays of a part under the names they have in the whole state.

    Examples
    --------
    >>> import numpy as np
    >>> list(add_prefix("memory", {"rows": np.zeros(2)}))
    ['memory.rows']
    """
    return {f"{part}.{name}": array for name, array in state.items()}


def strip_prefix(state: State, part: str) -> State:
    """Return the arrays of one part of the state, under their own names.

    Examples
    --------
    >>> import numpy as np
    >>> list(strip_prefix({"weights": np.zeros(2), "memory.rows": np.zeros(2)}, "memory"))
    ['rows']
    """
    return {
        name.removeprefix(f"{part}."): array for name, array in state.items() if name.startswith(f"{part}.")
    }


def check_range(name: str, numbers: ArrayLike, low: float = 0.0, high: float = LARGEST_COUNT) -> None:
    """Raise ValueError unless all of `numbers` are from `low` to `high`, as all learnt ones are.

    Examples
    --------
    >>> check_range("the count of a class", [3.0, -1.0])
    Traceback (most recent call last):
    ...
    ValueError: the count of a class should lie from 0 to 9.0072e+15, found -1 to 3
    """
    array = np.asarray(numbers)
    if not array.size:
        return
    least, most = array.min(), array.max()
    if not low <= least <= most <= high:  # nor NaN
        raise ValueError(f"{name} should lie from {low:g} to {high:g}, found {least:g} to {most:g}")
