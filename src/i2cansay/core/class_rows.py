"""An array with a row per class, as a part of a learner's state."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from i2cansay.core.linalg.row_buffer import RowBuffer
from i2cansay.core.types import State


class ClassRows:
    """Rows of numbers, one per class in the order of arrival: a `StatePart` for what no other part keeps.

    Parameters
    ----------
    width : int or None
        Numbers in a row; None for one number per class, as a count.
    dtype : data type
        Of the numbers.

    Examples
    --------
    >>> highest = ClassRows(width=2)
    >>> highest.resize(2)
    >>> np.maximum.at(highest.rows, [0, 0, 1], [[1.0, 5.0], [4.0, 2.0], [3.0, 3.0]])
    >>> highest.rows
    array([[4., 5.],
           [3., 3.]])
    """

    def __init__(self, width: int | None, dtype: DTypeLike = np.float64) -> None:
        self._buffer = RowBuffer(width=width, dtype=dtype)

    @property
    def rows(self) -> NDArray[Any]:
        """The rows, (c, width) or (c,), to read and to write; those of a new class are zero."""
        return self._buffer.view

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` rows."""
        self._buffer.resize(n_classes)

    def drop(self, row: int) -> None:
        """Remove one class; the rows behind it move up."""
        self._buffer.drop(row)

    def state(self) -> State:
        """Return `rows`."""
        return {"rows": self.rows}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes."""
        expected = (n_classes, *self.rows.shape[1:])
        if state["rows"].shape != expected:
            raise ValueError(
                f"the rows of the classes should be of shape {expected}, not {state['rows'].shape}"
            )
        self._buffer.set(state["rows"])
