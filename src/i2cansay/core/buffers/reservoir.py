"""A bounded, uniform sample of the whole stream (the buffer of Tables 4 and 5)."""

import numpy as np

from i2cansay.core.buffers.sample_buffer import SampleBuffer
from i2cansay.core.state_parts import check_range
from i2cansay.core.types import Features, Rows, State


class Reservoir(SampleBuffer):
    """Holds up to `size` of the rows shown, each with the same chance of being among them.

    Rows that are removed (a class forgotten, a sample unlearnt) free their place for the next row. The stored rows
    are in `memory`.

    Examples
    --------
    >>> reservoir = Reservoir(size=2, n_features=1)
    >>> reservoir.add(np.arange(5.0)[:, None], np.zeros(5, dtype=np.int64), np.random.default_rng(0))
    >>> len(reservoir), reservoir.n_bytes
    (2, 24)
    """

    def __init__(self, size: int, n_features: int) -> None:
        super().__init__(size, n_features)
        self._seen = 0

    def add(self, X: Features, classes: Rows, rng: np.random.Generator) -> None:
        """Show rows (n, d) of the given classes (n,): algorithm R, a batch at a time."""
        size, arriving = self.memory.size, np.arange(len(X))
        free = len(self.memory) + arriving
        slot = np.where(free < size, free, rng.integers(0, self._seen + arriving + 1))
        admitted = np.flatnonzero(slot < size)
        self.memory.put(slot[admitted], X[admitted], classes[admitted])
        self._seen += len(X)

    def merge(self, other: "Reservoir", rows: Rows, rng: np.random.Generator) -> None:
        """Become a uniform sample of both streams; class i of `other` is class ``rows[i]`` here."""
        held, their_held = len(self), len(other)
        total = min(self.memory.size, held + their_held)
        mine = (
            int(rng.hypergeometric(self._seen, other._seen, total)) if self._seen and other._seen else total
        )
        mine = min(max(mine if self._seen else 0, total - their_held), held)
        own, own_classes = self.draw(mine, rng)
        theirs, their_classes = other.draw(total - mine, rng)
        self.memory.replace(np.concatenate([own, theirs]), np.concatenate([own_classes, rows[their_classes]]))
        self._seen += other._seen

    def state(self) -> State:
        """Return the stored rows, their classes and how many rows were seen."""
        return {**super().state(), "seen": np.array([self._seen])}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes."""
        if state["seen"].shape != (1,):
            raise ValueError("the buffer should say how many samples it has seen in one number")
        super().restore(state, n_classes)
        check_range("the samples seen", state["seen"], len(self.memory))
        self._seen = int(state["seen"][0])
