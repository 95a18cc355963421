"""Rows that are learnt together or not at all, however many they are."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Features
from i2cansay.learners.base import OnlineClassifier

# The paper's mini-batch, for learners that have no batch_size of their own.
BATCH_SIZE = 50


class AtomicLesson:
    """Teaches a copy of a learner batch by batch; the learner takes over what the copy knows at the end.

    Holds one batch and what was added last, never all rows. The batches depend on the rows only, not on how
    they were added.

    Examples
    --------
    >>> from i2cansay.learners import make_learner
    >>> learner = make_learner("ncm")
    >>> lesson = AtomicLesson(learner)
    >>> for start in range(0, 120, 40):
    ...     lesson.add(np.ones((40, 2)), np.arange(start, start + 40))
    >>> hasattr(learner, "classes_")
    False
    >>> lesson.finish()
    >>> len(learner.classes_)
    120
    """

    def __init__(self, learner: OnlineClassifier) -> None:
        self._learner = learner
        self._copy = deepcopy(learner)
        self._size: int = getattr(learner, "batch_size", None) or BATCH_SIZE
        self._waiting: tuple[Features, NDArray[Any]] | None = None

    def add(self, X: Features, y: NDArray[Any]) -> None:
        """Take in rows, (n, d), and their labels, (n,), and learn those that fill a batch."""
        if self._waiting is not None:
            X, y = np.concatenate([self._waiting[0], X]), np.concatenate([self._waiting[1], y])
        while len(X) >= self._size:
            self._copy.partial_fit(X[: self._size], y[: self._size])
            X, y = X[self._size :], y[self._size :]
        self._waiting = X, y

    def finish(self) -> None:
        """Learn what is left, and make it all known to the learner."""
        if self._waiting is None:
            return
        if len(self._waiting[0]):
            self._copy.partial_fit(*self._waiting)
        # The copy also for one batch: partial_fit takes several steps, and may be interrupted between them.
        if self._copy._started:
            self._learner._become(self._copy)
