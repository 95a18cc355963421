"""What all sample buffers share: the rows they hold. Which rows those are is decided by each of them."""

import numpy as np

from i2cansay.core.buffers.sample_memory import SampleMemory
from i2cansay.core.types import Features, Float32, Rows, State


class SampleBuffer:
    """Up to `size` samples in `memory`; a subclass decides in its `add` which of the samples shown are kept."""

    def __init__(self, size: int, n_features: int) -> None:
        self.memory = SampleMemory(size, n_features)

    def __len__(self) -> int:
        return len(self.memory)

    @property
    def n_bytes(self) -> int:
        """Bytes of the stored rows and their classes."""
        return self.memory.n_bytes

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Float32, Rows]:
        """Return up to `n` different stored rows and their classes."""
        return self.memory.draw(n, rng)

    def discard(self, X: Features, classes: Rows) -> None:
        """Remove stored rows equal to the given samples, one for each."""
        self.memory.discard(X, classes)

    def resize(self, n_classes: int) -> None:
        """Do nothing: room is kept by sample, not by class."""

    def drop(self, row: int) -> None:
        """Remove the samples of one class; the classes behind it move up."""
        self.memory.drop(row)

    def state(self) -> State:
        """Return the stored rows and their classes."""
        return self.memory.state()

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes."""
        self.memory.restore(state, n_classes)
