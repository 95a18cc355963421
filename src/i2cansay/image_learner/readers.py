"""Counts the threads that are using a learner, so that a lesson changes it in place only if there are none."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from i2cansay.core.copyable_lock import CopyableLock
from i2cansay.learners.base import OnlineClassifier


class Readers:
    """Lets threads predict with a learner while another one teaches it.

    A reader holds the parts that make up the learner when it begins, and predicts from them. So a lesson may change
    these parts only while there is no reader. Otherwise it gives the learner new parts (`replace`), and does not
    wait for the readers of the old ones.

    Examples
    --------
    >>> from i2cansay.learners import make_learner
    >>> learner, readers = make_learner("ncm").partial_fit([[0.0], [1.0]], ["low", "high"]), Readers()
    >>> with readers.reading(learner) as known:
    ...     readers.change_if_idle(lambda: learner.partial_fit([[2.0]], ["high"]))
    False
    >>> readers.change_if_idle(lambda: learner.partial_fit([[2.0]], ["high"]))
    True
    """

    def __init__(self) -> None:
        self._lock = CopyableLock()
        self._reading = 0
        self._generation = 0

    @contextmanager
    def reading(self, learner: OnlineClassifier) -> Iterator[OnlineClassifier]:
        """Lend a learner that knows what is known now, and does not change while the block runs."""
        with self._lock:
            generation, known = self._generation, copy.copy(learner)
            self._reading += 1
        try:
            yield known
        finally:
            with self._lock:
                if generation == self._generation:
                    self._reading -= 1

    def change_if_idle(self, change: Callable[[], object]) -> bool:
        """Call `change` unless there is a reader, and return whether it was called; new readers wait for it."""
        with self._lock:
            if self._reading:
                return False
            change()
            return True

    def replace(self, learner: OnlineClassifier, taught: OnlineClassifier) -> None:
        """Let the learner take over the parts of a taught copy."""
        with self._lock:
            learner._become(taught)
            self._generation += 1
            self._reading = 0

    def __reduce__(self) -> tuple[type[Readers], tuple[()]]:
        return Readers, ()  # a copy has no readers
