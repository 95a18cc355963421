"""A bounded buffer of rows with diverse gradients, chosen all at once (GSS-IQP)."""

import numpy as np

from i2cansay.core.buffers.sample_buffer import SampleBuffer
from i2cansay.core.paper.head import LinearHead
from i2cansay.core.types import Features, Rows
from i2cansay.learners.replay.diverse_subset import diverse_subset
from i2cansay.learners.replay.head_gradients import UnitGradients


class DiverseBuffer(SampleBuffer):
    """Fills up, then keeps the rows whose gradients are most diverse, and fills up again.

    The places freed by a selection are the recent buffer of the published method, which has it beside the memory;
    here both together never exceed `size`. The gradients are those at the present head, for old rows and new.

    Parameters
    ----------
    recent : float
        Share of the places that a selection frees for the rows to come, at least one place.

    References
    ----------
    Aljundi, Lin, Goujaud, Bengio (2019), Gradient based sample selection for online continual learning, NeurIPS
    (GSS-IQP).

    Examples
    --------
    >>> head = LinearHead(n_features=1, bias=True)
    >>> head.resize(2)
    >>> buffer = DiverseBuffer(size=10, n_features=1)
    >>> for row in np.repeat([0, 1], [90, 10]):  # ten times as many of one class
    ...     buffer.add(np.ones((1, 1)), np.array([row]), head)
    >>> buffer.memory.class_counts(2)
    array([5, 5])
    """

    def __init__(self, size: int, n_features: int, *, recent: float = 0.1) -> None:
        super().__init__(size, n_features)
        self._n_recent = max(1, round(recent * size))

    def add(self, X: Features, classes: Rows, head: LinearHead) -> None:
        """Show rows (n, d) of the given classes (n,)."""
        for start in range(
            0, len(X), self._n_recent
        ):  # so that a selection is never much larger than the buffer
            part = slice(start, start + self._n_recent)
            self._add(X[part], classes[part], head)

    def _add(self, X: Features, classes: Rows, head: LinearHead) -> None:
        if len(X) <= self.memory.n_free:
            self.memory.append(X, classes)
            return
        rows = np.concatenate([self.memory.rows, X], dtype=np.float32)
        all_classes = np.concatenate([self.memory.classes, classes])
        n_kept = max(self.memory.size - self._n_recent, 1)
        kept = diverse_subset(UnitGradients.of(head, rows, all_classes), n_kept)
        self.memory.replace(rows[kept], all_classes[kept])
