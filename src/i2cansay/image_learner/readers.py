"""Who is asking a learner right now: what a lesson must know before it changes the learner in place."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from i2cansay.core.copyable_lock import CopyableLock
from i2cansay.learners.base import OnlineClassifier


class Readers:
    """Lets threads ask a learner while another one teaches it.

    A reader holds the parts that the learner is made of when it begins, and answers from them in its own time. So a
    lesson may change these parts only while nobody reads; otherwise it gives the learner new ones (`replace`), and
    the readers of the old ones need not be waited for.

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
        """Lend a learner that knows what is known now, and keeps to that as long as the block runs."""
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
        """Call `change` unless somebody reads, and say whether it was called; whoever asks meanwhile waits."""
        with self._lock:
            if self._reading:
                return False
            change()
            return True

    def replace(self, learner: OnlineClassifier, taught: OnlineClassifier) -> None:
        """Let the learner take over what a taught copy of it is made of."""
        with self._lock:
            learner._become(taught)
            self._generation += 1
            self._reading = 0

    def __reduce__(self) -> tuple[type[Readers], tuple[()]]:
        return Readers, ()  # nobody reads a copy
