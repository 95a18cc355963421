"""A bounded sample of the stream that holds its classes in equal numbers, each class sampled uniformly."""

import numpy as np

from i2cansay.core.buffers.sample_memory import SampleMemory
from i2cansay.core.linalg.row_buffer import RowBuffer
from i2cansay.core.state_parts import check_range
from i2cansay.core.types import Features, Float32, Rows, State


class BalancedReservoir:
    """Class-balanced reservoir sampling: as even as the stream allows, without knowing the classes beforehand.

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
        self.memory = SampleMemory(size, n_features)
        self._seen = RowBuffer(width=None, dtype=np.int64)
        self._full = RowBuffer(width=None, dtype=np.bool_)

    def __len__(self) -> int:
        return len(self.memory)

    @property
    def n_bytes(self) -> int:
        """Bytes of the rows held and their classes."""
        return self.memory.n_bytes

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
                own = full[row] and counts[row] > 0  # a full class that lost every row begins anew
                if own and rng.random() * seen[row] >= counts[row]:
                    continue
                candidates = np.flatnonzero(
                    self.memory.classes == row if own else largest[self.memory.classes]
                )
                place = int(candidates[rng.integers(len(candidates))])
                counts[self.memory.classes[place]] -= 1
            self.memory.put(place, x, row)
            counts[row] += 1

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Float32, Rows]:
        """Return up to `n` different held rows and their classes."""
        return self.memory.draw(n, rng)

    def drop(self, row: int) -> None:
        """Throw out the samples of one class; the classes behind it move up."""
        self.memory.drop(row)
        self._seen.drop(row)
        self._full.drop(row)

    def discard(self, X: Features, classes: Rows) -> None:
        """Throw out held rows equal to the given samples."""
        self.memory.discard(X, classes)

    def state(self) -> State:
        """Return the held rows, their classes, and of every class how many were seen and whether it is full."""
        return {**self.memory.state(), "seen": self._seen.view, "full": self._full.view}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` gave, which must be of `n_classes` classes."""
        if not state["seen"].shape == state["full"].shape == (n_classes,):
            raise ValueError(f"the buffer should have counted each of {n_classes} classes")
        self.memory.restore(state, n_classes)
        check_range("the samples seen of a class", state["seen"])
        self._seen.set(state["seen"])
        self._full.set(state["full"])
