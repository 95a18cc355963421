"""A lesson of any number of rows, learnt whole or not at all."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Features, Rows
from i2cansay.image_learner.doubts import Doubts
from i2cansay.image_learner.interrupts import interrupts_deferred
from i2cansay.image_learner.readers import Readers
from i2cansay.learners.base import OnlineClassifier

# The paper's mini-batch, for learners that have no batch_size of their own.
BATCH_SIZE = 50
# Samples of the first batch of a learner that does not depend on their order; later ones grow with what it knows.
# It learns the same from any batches, but only samples that come after others are scored before they are learnt,
# and probabilities and verdicts rest on those scores.
FIRST_BATCH = 8


class AtomicLesson:
    """Teaches a learner batch by batch; the learner knows nothing of the lesson until the end, and then all of it.

    Several batches are taught to a copy, and the learner takes over the state of the copy at the end. A single batch
    is taught to the learner itself: `partial_fit` checks a batch before it changes anything, and copying a learner
    of 100 MB takes about as long as teaching it an image. If another thread is using the learner at that moment, or
    the learner knows nothing yet, a single batch is taught to a copy too.

    Only one batch and the rows added last are held, never all rows. How rows were added makes no difference to the
    batches.

    Parameters
    ----------
    learner : OnlineClassifier
    readers : Readers, optional
        The threads that may be using the learner.
    doubts : Doubts, optional
        Is shown the rows before they are learnt.
    batch_size : int, optional
        Rows of a batch; by default the learner's own, and fewer while a learner that does not depend on the order of
        samples is young.

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

    def __init__(
        self,
        learner: OnlineClassifier,
        readers: Readers | None = None,
        *,
        doubts: Doubts | None = None,
        batch_size: int | None = None,
    ) -> None:
        self._learner = learner
        self._readers = readers or Readers()
        self._doubts = doubts or Doubts(0)
        self._copy: OnlineClassifier | None = None
        self._given_size = batch_size
        self._waiting: tuple[Features, NDArray[Any], Rows] | None = None
        self._added = self._scored = 0

    def add(self, X: Features, y: NDArray[Any], indices: Rows | None = None) -> None:
        """Add rows, (n, d), and their labels, (n,); a batch is learnt once there are rows after it.

        `indices`, (n,), are what doubts call the rows; by default they are counted.
        """
        if indices is None:
            indices = np.arange(self._added, self._added + len(X))
        self._added += len(X)
        if self._waiting is not None:
            X, y, indices = (
                np.concatenate(pair) for pair in zip(self._waiting, (X, y, indices), strict=True)
            )
        while len(X) > (size := self._size):
            self._score(X, y, indices)
            self._taught().partial_fit(X[:size], y[:size])
            X, y, indices = X[size:], y[size:], indices[size:]
            self._scored = max(0, self._scored - size)
        self._waiting = X, y, indices

    @property
    def _size(self) -> int:
        """How many rows the next batch has."""
        if self._given_size is not None:
            return self._given_size
        learner = self._copy or self._learner
        size: int = getattr(learner, "batch_size", None) or BATCH_SIZE
        if not learner.order_free:
            return size
        return min(size, max(FIRST_BATCH, learner._n_seen // 2 if learner._started else 0))

    def _score(self, X: Features, y: NDArray[Any], indices: Rows) -> None:
        """Show the rows of the coming batch to the doubts, and more with them; none is shown twice."""
        if self._scored < min(len(X), self._size):
            learner = self._copy or self._learner
            rows = slice(self._scored, min(len(X), self._doubts.chunk(learner, self._size)))
            self._doubts.note(learner, X[rows], y[rows], indices[rows])
            self._scored = rows.stop

    def finish(self) -> None:
        """Learn the last batch, and make the whole lesson known to the learner."""
        if self._waiting is None or not len(self._waiting[0]):
            return
        X, y, indices = self._waiting
        self._score(X, y, indices)
        if not self._finish_in_place(X, y):
            self._taught().partial_fit(X, y)
            if self._taught()._started:
                self._readers.replace(self._learner, self._taught())
        self._doubts.finish(self._learner)

    def _finish_in_place(self, X: Features, y: NDArray[Any]) -> bool:
        """Teach a lesson of a single batch to the learner itself, if it may be; return whether it was."""
        if self._copy is not None or not self._learner._started:
            return False
        # Ctrl-C could stop `partial_fit` halfway.
        with interrupts_deferred():
            return self._readers.change_if_idle(lambda: self._learner.partial_fit(X, y))

    def _taught(self) -> OnlineClassifier:
        if self._copy is None:
            self._copy = deepcopy(self._learner)
        return self._copy
