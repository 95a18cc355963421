"""A bounded buffer that stores a row if its class has less than its share."""

import numpy as np

from i2cansay.core.buffers.sample_buffer import SampleBuffer
from i2cansay.core.types import Features, Rows


class GreedyBuffer(SampleBuffer):
    """The greedy balancing sampler of GDumb: an equal share of the places for every class seen so far.

    A row is kept if its class holds less than ``size / classes`` rows; where there is no room, a random row of the
    largest class goes (of two equally large, the class that came first). A class at its share takes no more, so
    among the rows of one class the early ones have the better chance. What is held is in `memory`, and nothing
    else needs to be known.

    References
    ----------
    A. Prabhu, P. H. S. Torr and P. K. Dokania, GDumb: a simple approach that questions our progress in continual
    learning, ECCV 2020 (Algorithm 1).

    Examples
    --------
    >>> buffer = GreedyBuffer(size=6, n_features=1)
    >>> classes = np.repeat([0, 1, 2], [80, 15, 5])
    >>> buffer.add(np.arange(100.0)[:, None], classes, np.random.default_rng(0))
    >>> buffer.memory.class_counts(3)
    array([2, 2, 2])
    """

    def add(self, X: Features, classes: Rows, rng: np.random.Generator) -> None:
        """Show rows (n, d) of the given classes (n,), one after the other."""
        counts = self.memory.class_counts(int(classes.max(initial=-1)) + 1)
        n_classes = np.count_nonzero(counts)
        for x, row in zip(X, classes.tolist(), strict=True):
            # A class that comes for the first time is one of those that share.
            if counts[row] * (n_classes + (counts[row] == 0)) >= self.memory.size:
                continue
            place = len(self.memory)
            if not self.memory.n_free:
                largest = counts.argmax()
                candidates = np.flatnonzero(self.memory.classes == largest)
                place = int(candidates[rng.integers(len(candidates))])
                counts[largest] -= 1
                n_classes -= counts[largest] == 0
            n_classes += counts[row] == 0
            self.memory.put(place, x, row)
            counts[row] += 1
