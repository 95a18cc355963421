"""A bounded sample of the stream, balanced over the classes and uniform within each."""

import numpy as np

from i2cansay.core.buffers.sample_buffer import SampleBuffer
from i2cansay.core.linalg.row_buffer import RowBuffer
from i2cansay.core.state_parts import check_range
from i2cansay.core.types import Features, Rows, State


class BalancedReservoir(SampleBuffer):
    """Class-balanced reservoir sampling: as balanced as the stream allows, without knowing the classes in advance.

    While there is room every row is kept. After that a class that has once been the largest is full: a row of it
    takes the place of another of its class with probability held/shown, as in a reservoir of that class alone. A
    row of any other class is always kept, in the place of one of a largest class. What is held is in `memory`.

    References
    ----------
    A. Chrysakis and M.-F. Moens, Online continual learning from imbalanced data, ICML 2020.

    Examples
    --------
    >>> buffer = BalancedReservoir(size=6, n_features=1)
    >>> buffer.resize(3)
    >>> classes = np.repeat([0, 1, 2], [80, 15, 5])
    >>> buffer.add(np.arange(100.0)[:, None], classes, np.random.default_rng(0))
    >>> buffer.memory.class_counts(3)
    array([2, 2, 2])
    """

    def __init__(self, size: int, n_features: int) -> None:
        super().__init__(size, n_features)
        self._seen = RowBuffer(width=None, dtype=np.int64)
        self._full = RowBuffer(width=None, dtype=np.bool_)

    def resize(self, n_classes: int) -> None:
        """Make room for `n_classes` classes."""
        self._seen.resize(n_classes)
        self._full.resize(n_classes)

    def add(self, X: Features, classes: Rows, rng: np.random.Generator) -> None:
        """Show rows (n, d) of the given classes (n,), one after the other."""
        if not self.memory.size:
            return
        seen, full = self._seen.view, self._full.view
        counts = self.memory.class_counts(len(seen))
        for x, row in zip(X, classes.tolist(), strict=True):
            seen[row] += 1
            if self.memory.n_free:
                place = len(self.memory)
            else:
                largest = counts == counts.max()
                full |= largest
                own = full[row] and counts[row] > 0  # a full class that lost every row starts over
                if own and rng.random() * seen[row] >= counts[row]:
                    continue
                candidates = np.flatnonzero(
                    self.memory.classes == row if own else largest[self.memory.classes]
                )
                place = int(candidates[rng.integers(len(candidates))])
                counts[self.memory.classes[place]] -= 1
            self.memory.put(place, x, row)
            counts[row] += 1

    def drop(self, row: int) -> None:
        """Remove the samples of one class; the classes behind it move up."""
        super().drop(row)
        self._seen.drop(row)
        self._full.drop(row)

    def state(self) -> State:
        """Return the stored rows and their classes, the rows `seen` of each class, and which classes are `full`."""
        return {**super().state(), "seen": self._seen.view, "full": self._full.view}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes."""
        if not state["seen"].shape == state["full"].shape == (n_classes,):
            raise ValueError(f"the buffer should have counted each of {n_classes} classes")
        super().restore(state, n_classes)
        check_range("the samples seen of a class", state["seen"])
        self._seen.set(state["seen"])
        self._full.set(state["full"])
