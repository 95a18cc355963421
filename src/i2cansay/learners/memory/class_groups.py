"""Groups of classes, filled in the order in which the classes arrive."""

import numpy as np

from i2cansay.core.linalg.row_buffer import RowBuffer
from i2cansay.core.state_parts import check_range
from i2cansay.core.types import Rows, State


class ClassGroups:
    """The group of each class. A class joins the newest group until `size` classes have, then opens another.

    Examples
    --------
    >>> groups = ClassGroups(size=2)
    >>> groups.resize(3)
    >>> groups.drop(0)
    >>> groups.resize(4)
    >>> groups.of_class
    array([0, 1, 1, 2])
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._groups = RowBuffer(width=None, dtype=np.int64)
        self._arrived = 0

    @property
    def of_class(self) -> Rows:
        """The number of each class's group, (c,); a view."""
        return self._groups.view

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` classes, and give the new ones their groups."""
        n_new = n_classes - len(self._groups)
        self._groups.resize(n_classes)
        # Counted by arrival: a group that has lost a class is not filled up again.
        self._groups.view[n_classes - n_new :] = (self._arrived + np.arange(n_new)) // self._size
        self._arrived += n_new

    def drop(self, row: int) -> None:
        """Remove one class; the others stay in their groups."""
        self._groups.drop(row)

    def state(self) -> State:
        """Return `groups` and how many classes have `arrived`."""
        return {"groups": self._groups.view, "arrived": np.array([self._arrived])}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes."""
        if state["groups"].shape != (n_classes,) or state["arrived"].shape != (1,):
            raise ValueError(f"expected the group of each of {n_classes} classes, and how many have arrived")
        check_range("the group of a class", state["groups"])
        check_range("how many classes have arrived", state["arrived"], n_classes)
        self._groups.set(state["groups"])
        self._arrived = int(state["arrived"][0])
